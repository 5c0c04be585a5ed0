/** What the service promises of `Idempotency-Key` over HTTP. @module */

import assert from "node:assert/strict";
import { answers, CREATE } from "./answers.ts";
import type { Answer, OpenService, Question } from "./ask.ts";
import { type Clause, decided } from "./clause.ts";
import { assertRefused } from "./error_reply.ts";
import { bodyOf, create, named, newName } from "./own_pets.ts";

const TEXT = { "content-type": "text/plain" };

/** The clauses. */
export const IDEMPOTENCY_CLAUSES: readonly Clause[] = [
  decided(
    "a create with an Idempotency-Key that is sent again is answered as before",
    async (service) => {
      const [name, key] = [newName(), newKey()];
      const body = bodyOf({ name });
      const first = await createOnce(service, body, `"${key}"`);
      assert.equal(first.status, 201);
      assert.equal(first.headers.get("idempotency-replayed"), null);
      for (const form of [`"${key}"`, key]) {
        const again = await createOnce(service, body, form);
        assert.equal(again.status, 201, form);
        assert.equal(again.text, first.text);
        assert.equal(
          again.headers.get("location"),
          first.headers.get("location"),
        );
        assert.equal(again.headers.get("idempotency-replayed"), "true");
      }
      assert.equal((await named(service, name)).length, 1);
    },
  ),

  decided(
    "an equal pet is the same request, however it is written",
    async (service) => {
      const [name, key] = [newName(), newKey()];
      const escaped = name.replace("e", "\\u0065");
      const first = await createOnce(service, bodyOf({ name }), key);
      const equal = [
        `{"categoryId":1.0,"name":"${name}"}`,
        `{"categoryId":10e-1,"name":"${escaped}","status":"available"}`,
        ` {"name":"${name}","categoryId":1,"id":9,"colour":"brown"}`,
      ];
      for (const body of equal) {
        const again = await createOnce(service, body, key);
        assert.equal(again.status, 201, body);
        assert.equal(again.text, first.text);
      }
      assert.equal((await named(service, name)).length, 1);
    },
  ),

  decided(
    "another pet with the same Idempotency-Key is 422",
    async (service) => {
      const [name, key] = [newName(), newKey()];
      const first = await createOnce(service, bodyOf({ name }), key);
      const others = [
        { name: name.toLowerCase() },
        { name, categoryId: 8 },
        { name, status: "sold" },
      ];
      for (const other of others) {
        const answer = await createOnce(service, bodyOf(other), key);
        assertRefused(answer, 422);
        assert.equal(answer.headers.get("idempotency-replayed"), null);
        assert.equal(answer.headers.get("location"), null);
      }
      const again = await createOnce(service, bodyOf({ name }), key);
      assert.equal(again.text, first.text);
      assert.equal((await named(service, name)).length, 1);
      assert.equal((await named(service, name.toLowerCase())).length, 0);
    },
  ),

  decided(
    "a malformed Idempotency-Key is 400, and the message names the header",
    answers(400, [CREATE], {
      asks: ['""', '"a', '"a"b', "a b", "a, b", '"a";x', "k".repeat(256)]
        .map((key) => keyed(key)),
      says: ["Idempotency-Key"],
    }),
  ),

  decided(
    "the API key is checked before the Idempotency-Key, and that before the body",
    answers(401, [CREATE], {
      asks: [keyed('"', { ...TEXT, authorization: "Bearer wrong" })],
    }),
    answers(400, [CREATE], {
      asks: [keyed('"', TEXT)],
      says: ["Idempotency-Key"],
    }),
    answers(415, [CREATE], { asks: [keyed("k", TEXT)] }),
  ),

  decided(
    "a create that is refused uses no Idempotency-Key up",
    async (service) => {
      const key = newKey();
      assertRefused(await createOnce(service, '{"name":""}', key), 400);
      assertRefused(await createOnce(service, "{", key), 400);
      const answer = await createOnce(service, bodyOf(), key);
      assert.equal(answer.status, 201);
      assert.equal(answer.headers.get("idempotency-replayed"), null);
    },
  ),
];

function newKey(): string {
  return crypto.randomUUID();
}

function keyed(key: string, more: Question["headers"] = {}): Question {
  return { headers: { "idempotency-key": key, ...more } };
}

function createOnce(
  service: OpenService,
  body: string,
  key: string,
): Promise<Answer> {
  return create(service, body, { "idempotency-key": key });
}

/** What the service promises of `Idempotency-Key` over HTTP. */

import assert from "node:assert/strict";
import { answers, CREATE } from "./answers.ts";
import { ask, type OpenService, type Question } from "./ask.ts";
import { type Clause, it } from "./clause.ts";
import { assertRefused } from "./error_reply.ts";
import { bodyOf, named, newName } from "./own_pets.ts";

const TEXT = { "content-type": "text/plain" };
const WRONG = { authorization: "Bearer wrong" };
const MALFORMED = ['""', '"a', '"a"b', "a b", "a, b", '"a";x', "k".repeat(256)];

/** The clauses. */
export const IDEMPOTENCY_CLAUSES: readonly Clause[] = [
  it.decided("a create with an Idempotency-Key that is sent again is answered as before", async (service) => {
    const name = newName();
    const key = crypto.randomUUID();
    const send = creator(service, bodyOf({ name }));
    const first = await send(`"${key}"`);
    assert.equal(first.status, 201);
    assert.equal(first.headers.get("idempotency-replayed"), null);
    for (const form of [`"${key}"`, key]) {
      const again = await send(form);
      assert.equal(again.status, 201, form);
      assert.equal(again.text, first.text);
      const { headers } = again;
      assert.equal(headers.get("location"), first.headers.get("location"));
      assert.equal(headers.get("idempotency-replayed"), "true");
    }
    assert.equal((await named(service, name)).length, 1);
  }),

  it.decided("an equal pet is the same request, however it is written", async (service) => {
    const name = newName();
    const key = crypto.randomUUID();
    const first = await creator(service, bodyOf({ name }))(key);
    const spelled = name.replace("e", "\\u0065");
    const equal = [
      `{"categoryId":1.0,"name":"${name}"}`,
      `{"categoryId":10e-1,"name":"${spelled}","status":"available"}`,
      ` {"name":"${name}","categoryId":1,"id":9,"colour":"brown"}`,
    ];
    for (const body of equal) {
      const again = await creator(service, body)(key);
      assert.equal(again.status, 201, body);
      assert.equal(again.text, first.text);
    }
    assert.equal((await named(service, name)).length, 1);
  }),

  it.decided("another pet with the same Idempotency-Key is 422", async (service) => {
    const name = newName();
    const other = name.toLowerCase();
    const key = crypto.randomUUID();
    const send = creator(service, bodyOf({ name }));
    const first = await send(key);
    const others = [{ categoryId: 8 }, { status: "sold" }, { name: other }];
    for (const members of others) {
      const body = bodyOf({ name, ...members });
      const answer = await creator(service, body)(key);
      assertRefused(answer, 422);
      assert.equal(answer.headers.get("idempotency-replayed"), null);
      assert.equal(answer.headers.get("location"), null);
    }
    assert.equal((await send(key)).text, first.text);
    assert.equal((await named(service, name)).length, 1);
    assert.equal((await named(service, other)).length, 0);
  }),

  it.decided(
    "a malformed Idempotency-Key is 400, and the message names the header",
    answers(400, [CREATE], {
      asks: MALFORMED.map((key) => keyed(key)),
      says: ["Idempotency-Key"],
    }),
  ),
  it.decided(
    "the API key is checked before the Idempotency-Key, and that before the body",
    answers(401, [CREATE], { asks: [keyed('"', { ...TEXT, ...WRONG })] }),
    answers(400, [CREATE], {
      asks: [keyed('"', TEXT)],
      says: ["Idempotency-Key"],
    }),
    answers(415, [CREATE], { asks: [keyed("k", TEXT)] }),
  ),

  it.decided("a create that is refused uses no Idempotency-Key up", async (service) => {
    const key = crypto.randomUUID();
    for (const wrong of ['{"name":""}', "{"]) {
      assertRefused(await creator(service, wrong)(key), 400);
    }
    const answer = await creator(service, bodyOf())(key);
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("idempotency-replayed"), null);
  }),
];

function keyed(key: string, more: Question["headers"] = {}): Question {
  return { headers: { "idempotency-key": key, ...more } };
}

/** Sends a create with an Idempotency-Key. */
function creator(service: OpenService, body: string) {
  return (key: string) =>
    ask(service, "POST", "/pets", { body, ...keyed(key) });
}

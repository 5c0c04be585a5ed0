/** What the service promises of `Idempotency-Key` over HTTP. */

import assert from "node:assert/strict";
import { answers, CREATE } from "./answers.ts";
import { ask, type OpenService, type Question } from "./ask.ts";
import { type Clause, decided } from "./clause.ts";
import { assertRefused } from "./error_reply.ts";
import { bodyOf, named, newName } from "./own_pets.ts";

const TEXT = { "content-type": "text/plain" };
const MALFORMED = ['""', '"a', '"a"b', "a b", "a, b", '"a";x', "k".repeat(256)];

// deno-fmt-ignore -- one line for each sentence and each thing that is sent
/** The clauses. */
export const IDEMPOTENCY_CLAUSES: readonly Clause[] = [
  decided("a create with an Idempotency-Key that is sent again is answered as before", async (service) => {
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
      assert.equal(again.headers.get("location"), first.headers.get("location"));
      assert.equal(again.headers.get("idempotency-replayed"), "true");
    }
    assert.equal((await named(service, name)).length, 1);
  }),

  decided("an equal pet is the same request, however it is written", async (service) => {
    const name = newName();
    const key = crypto.randomUUID();
    const first = await creator(service, bodyOf({ name }))(key);
    const equal = [
      `{"categoryId":1.0,"name":"${name}"}`,
      `{"categoryId":10e-1,"name":"${name.replace("e", "\\u0065")}","status":"available"}`,
      ` {"name":"${name}","categoryId":1,"id":9,"colour":"brown"}`,
    ];
    for (const body of equal) {
      const again = await creator(service, body)(key);
      assert.equal(again.status, 201, body);
      assert.equal(again.text, first.text);
    }
    assert.equal((await named(service, name)).length, 1);
  }),

  decided("another pet with the same Idempotency-Key is 422", async (service) => {
    const name = newName();
    const other = name.toLowerCase();
    const key = crypto.randomUUID();
    const send = creator(service, bodyOf({ name }));
    const first = await send(key);
    for (const members of [{ name: other }, { name, categoryId: 8 }, { name, status: "sold" }]) {
      const answer = await creator(service, bodyOf(members))(key);
      assertRefused(answer, 422);
      assert.equal(answer.headers.get("idempotency-replayed"), null);
      assert.equal(answer.headers.get("location"), null);
    }
    assert.equal((await send(key)).text, first.text);
    assert.equal((await named(service, name)).length, 1);
    assert.equal((await named(service, other)).length, 0);
  }),

  decided("a malformed Idempotency-Key is 400, and the message names the header",
    answers(400, [CREATE], { asks: MALFORMED.map((key) => keyed(key)), says: ["Idempotency-Key"] })),
  decided("the API key is checked before the Idempotency-Key, and that before the body",
    answers(401, [CREATE], { asks: [keyed('"', { ...TEXT, authorization: "Bearer wrong" })] }),
    answers(400, [CREATE], { asks: [keyed('"', TEXT)], says: ["Idempotency-Key"] }),
    answers(415, [CREATE], { asks: [keyed("k", TEXT)] })),

  decided("a create that is refused uses no Idempotency-Key up", async (service) => {
    const key = crypto.randomUUID();
    for (const wrong of ['{"name":""}', "{"]) assertRefused(await creator(service, wrong)(key), 400);
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

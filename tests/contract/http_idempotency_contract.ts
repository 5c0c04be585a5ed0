/** The promises of `Idempotency-Key` over HTTP. */

import assert from "node:assert/strict";
import { assertRefused } from "./error_reply.ts";
import { type Clauses, newName } from "./pets_client.ts";

/** Clauses of idempotent creates. */
export const IDEMPOTENCY_CLAUSES: Clauses = {
  async "a create sent again with its Idempotency-Key adds no second pet"(
    client,
  ) {
    const name = newName();
    const key = crypto.randomUUID();
    const body = client.petJson({ name });
    const first = await client.post(body, { "idempotency-key": `"${key}"` });
    assert.equal(first.status, 201);
    assert.equal(first.headers.get("idempotent-replayed"), null);
    for (const form of [`"${key}"`, key]) {
      const again = await client.post(body, { "idempotency-key": form });
      assert.equal(again.status, 201, form);
      assert.equal(again.text, first.text);
      const { headers } = again;
      const location = first.headers.get("location");
      assert.equal(headers.get("location"), location, "location");
      const replayed = "idempotent-replayed";
      assert.equal(headers.get(replayed), "true", replayed);
    }
    assert.equal((await client.findPets(name)).length, 1);
  },

  async "an equal pet is the same request, however it is written"(client) {
    const name = newName();
    const keyed = { "idempotency-key": crypto.randomUUID() };
    const first = await client.post(
      client.petJson({ name, categoryId: 1 }),
      keyed,
    );
    const spelled = name.replace("e", "\\u0065");
    const equal = [
      `{"categoryId":1.0,"name":"${name}"}`,
      `{"categoryId":10e-1,"name":"${spelled}","status":"available"}`,
      ` {"name":"${name}","categoryId":1,"id":9,"colour":"brown"}`,
    ];
    for (const body of equal) {
      const again = await client.post(body, keyed);
      assert.equal(again.status, 201, body);
      assert.equal(again.text, first.text);
    }
    assert.equal((await client.findPets(name)).length, 1);
  },

  async "another pet with the same Idempotency-Key is 422"(client) {
    const name = newName();
    const other = name.toLowerCase();
    const keyed = { "idempotency-key": crypto.randomUUID() };
    const body = client.petJson({ name });
    const first = await client.post(body, keyed);
    const others = [
      client.petJson({ name, categoryId: 8 }),
      client.petJson({ name, status: "sold" }),
      client.petJson({ name: other }),
    ];
    for (const different of others) {
      const answer = await client.post(different, keyed);
      assertRefused(answer, 422);
      assert.equal(answer.headers.get("idempotent-replayed"), null);
      assert.equal(answer.headers.get("location"), null);
    }
    assert.equal((await client.post(body, keyed)).text, first.text);
    assert.equal((await client.findPets([name, other])).length, 1);
  },

  async "a create that is refused uses no Idempotency-Key up"(client) {
    const keyed = { "idempotency-key": crypto.randomUUID() };
    for (const wrong of ['{"name":""}', "{"]) {
      assertRefused(await client.post(wrong, keyed), 400);
    }
    const answer = await client.post(client.petJson(), keyed);
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("idempotent-replayed"), null);
  },
};

// Run it with `deno test deno_test.ts`, after `npm install -D @types/node`: in process, without a
// port.
import { createClient } from "@petstore/service/client";
import { sandbox } from "@petstore/service/sandbox";
import assert from "node:assert/strict";

Deno.test("a create whose answer was lost adds one pet", async () => {
  const store = sandbox({ pets: 50 });
  store.add({ when: { method: "POST" }, lose: true, work: true });
  const baseUrl = "http://localhost/v1";
  const { key, handle } = store;
  const client = createClient({ baseUrl, key, fetch: handle });
  const rex = await client.createPet({ name: "Rex", categoryId: 1n });
  assert.equal(rex.id, 51n);
  assert.deepEqual(store.requests.map(({ status }) => status), [null, 201]);
});

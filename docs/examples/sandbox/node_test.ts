// Run it with `node --test node_test.ts`. For Vitest, import test, beforeAll, beforeEach, afterAll from "vitest".
import { createClient } from "@petstore/service/client";
import { sandbox } from "@petstore/service/sandbox";
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

const store = sandbox({ pets: 50 }); // one per file: test runners run each file in its own process or worker
let server: Awaited<ReturnType<typeof store.serve>>;
before(async () => {
  server = await store.serve();
});
beforeEach(() => store.reset());
after(() => server.close());

test("a create whose answer was lost adds one pet", async () => {
  store.add({ when: { method: "POST" }, lose: true, work: true });
  const client = createClient({ baseUrl: server.url, key: server.key });
  const rex = await client.createPet({ name: "Rex", categoryId: 1n });
  assert.equal(rex.id, 51n);
  assert.deepEqual(store.requests.map(({ status }) => status), [null, 201]);
});

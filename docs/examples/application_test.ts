// Tests of an application without a server: run them with `node --test application_test.ts`.
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
import { type Client, createClient } from "@petstore/service/client";
import assert from "node:assert/strict";
import { test } from "node:test";

/** Your application, which receives the client. */
async function countAvailable(client: Client): Promise<number> {
  let count = 0;
  for await (const _pet of client.pets({ status: "available" })) count++;
  return count;
}

test("available pets are counted on all pages", async () => {
  const keys = apiKeys(["secret"]);
  const handle = createHandler({ storage: memoryStorage(), keys });
  const baseUrl = "http://localhost/v1";
  const client = createClient({ baseUrl, key: "secret", fetch: handle });
  for (let i = 0; i < 101; i++) {
    await client.createPet({ name: "Rex", categoryId: 1n });
  }
  assert.equal(await countAvailable(client), 101);
});

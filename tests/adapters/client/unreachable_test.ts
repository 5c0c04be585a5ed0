import assert from "node:assert/strict";
import test from "node:test";
import { createClient, PetStoreError } from "../../../adapters/client/mod.ts";
import { freePort } from "../standalone/program.ts";

test("a client whose server is not there says the address and the reason", async () => {
  const origin = `http://127.0.0.1:${await freePort()}`;
  const client = createClient({
    baseUrl: `${origin}/v1`,
    key: "sesame",
    retries: 0,
  });
  await assert.rejects(client.listPets(), (error) => {
    assert.ok(error instanceof PetStoreError);
    assert.ok(
      error.message.startsWith(
        `Cannot list pets: no response from ${origin} (`,
      ),
      error.message,
    );
    assert.match(error.message, /refused|unable to connect/i);
    assert.equal(error.message.split(origin).length, 2, "the address once");
    return true;
  });
});

test("a key that the reason mentions is not shown", async () => {
  const client = createClient({
    baseUrl: "http://localhost/v1",
    key: "sesame",
    fetch: () => Promise.reject(new TypeError("proxy refuses Bearer sesame")),
    retries: 0,
  });
  await assert.rejects(client.listPets(), (error) => {
    assert.ok(error instanceof PetStoreError);
    assert.match(error.message, /proxy refuses Bearer …/);
    return true;
  });
});

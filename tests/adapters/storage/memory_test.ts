import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory.ts";
import { apiKeyStorageContract } from "../../contract/api_key_storage_contract.ts";
import { petStorageContract } from "../../contract/pet_storage_contract.ts";

petStorageContract("memoryStorage", () => Promise.resolve(memoryStorage()));
apiKeyStorageContract("memoryStorage", () => Promise.resolve(memoryStorage()));

test("memoryStorage freezes its animals", async () => {
  const storage = memoryStorage();
  const pet = await storage.create({
    name: "Rex",
    categoryId: 1n,
    status: "sold",
  });
  assert.ok(Object.isFrozen(pet));
});

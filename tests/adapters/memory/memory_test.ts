import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStorage } from "../../../adapters/memory/mod.ts";
import {
  type CheckedPet,
  PET_STATUSES,
  petId,
  petToJson,
} from "../../../core/pets/pet.ts";
import { apiKeyStorageContract } from "../../contract/api_key_storage_contract.ts";
import { idempotencyContract } from "../../contract/idempotency_contract.ts";
import { petStorageContract } from "../../contract/pet_storage_contract.ts";
import { newPet } from "../../support/new_pet.ts";

petStorageContract("memoryStorage", () => Promise.resolve(memoryStorage()));
apiKeyStorageContract("memoryStorage", () => Promise.resolve(memoryStorage()));
idempotencyContract(
  "memoryStorage",
  async () => async (options) => memoryStorage(options),
);

test("memoryStorage gives the JSON text of its animals", async () => {
  const storage = memoryStorage();
  await storage.create(newPet({
    name: "Rex",
    categoryId: 2n ** 53n + 1n,
    status: "sold",
  }));
  const json =
    '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  assert.equal((await storage.list({ limit: 1 })).toJson?.(), `[${json}]`);
});

// Law: what a storage in blocks says of all its animals is what was put into it.
test("memoryStorage has every animal at any number of them", async () => {
  const storage = memoryStorage();
  const expected = [];
  for (let n = 1; n <= 2500; n++) {
    const status = PET_STATUSES[n % 5] ?? "available";
    const given = { name: `Pet ${n}`, categoryId: -BigInt(n), status };
    const pet = await storage.create(newPet(given));
    assert.deepEqual(pet, { id: petId(BigInt(n)), ...given });
    expected.push(pet);
  }
  for (const pet of expected.toReversed()) {
    const after = pet.id - 1n;
    const page = await storage.list({ limit: 1, after });
    assert.equal(page.toJson?.(), `[${petToJson(pet)}]`);
    assert.deepEqual(await storage.get(pet.id), pet);
  }
  assert.equal(await storage.get(petId(2501n)), undefined);
  for (const status of [undefined, ...PET_STATUSES]) {
    assert.deepEqual(
      (await storage.list(
        status === undefined ? { limit: 9999 } : { limit: 9999, status },
      )).pets,
      expected.filter((pet) => status === undefined || pet.status === status),
    );
  }
});

test("memoryStorage keeps nothing of a create that fails for its unchecked values", async () => {
  const storage = memoryStorage();
  const rex = { name: "Rex", categoryId: 1n, status: "available" };
  const wrong = [{ ...rex, status: "lost" }, { ...rex, categoryId: 1 }];
  for (const pet of wrong) {
    await assert.rejects(storage.create(pet as unknown as CheckedPet));
  }
  assert.equal((await storage.create(rex as CheckedPet)).id, 1n);
  for (
    const query of [{ limit: 9 }, { limit: 9, status: "available" as const }]
  ) {
    assert.equal((await storage.list(query)).pets.length, 1);
  }
});

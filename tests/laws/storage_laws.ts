/** Laws of a storage: what is put into it comes out again, to the last character, digit and millisecond. */

import assert from "node:assert/strict";
import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { anyName, anyNewPet, fc, runs } from "../support/property.ts";

/** Registers the tests; `open` opens an empty storage. */
export function storageLaws(
  it: (title: string, check: () => Promise<void>) => void,
  open: () => Promise<PetStorage & { readonly apiKeys: ApiKeyStorage }>,
): void {
  it("create, get and list keep every pet exactly", async () => {
    const storage = await open();
    try {
      await fc.assert(fc.asyncProperty(anyNewPet, async (newPet) => {
        const pet = await storage.create(newPet);
        const expected = { id: pet.id, ...newPet };
        assert.deepEqual(pet, expected);
        assert.deepEqual(await storage.get(pet.id), expected);
        const query = { limit: 1, after: pet.id - 1n, status: newPet.status };
        assert.deepEqual((await storage.list(query)).pets, [expected]);
      }));
    } finally {
      await storage.close();
    }
  });

  it("apiKeys: insert, revoke and list keep every name and time exactly", async () => {
    const storage = await open();
    const { apiKeys } = storage;
    const anyTime = fc.date({ noInvalidDate: true });
    const anyRecord = fc.tuple(anyName, anyTime, anyTime);
    let count = 0;
    try {
      await fc.assert(
        fc.asyncProperty(anyRecord, async ([name, created, revoked]) => {
          const digest = (++count).toString(16).padStart(64, "0");
          const { id } = await apiKeys.insert({ name, digest, created });
          const expected = { id, name, created, revoked };
          assert.deepEqual(await apiKeys.revoke(id, revoked), expected);
          assert.deepEqual((await apiKeys.list()).at(-1), expected);
        }),
        runs(30),
      );
    } finally {
      await storage.close();
    }
  });
}

/**
 * The contract of our own database storages: that of every storage, how idempotency keys expire,
 * and laws.
 */

import assert from "node:assert/strict";
import type { ApiKeyStorage } from "../../../core/keys/api_key_storage.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import {
  type RegisterTest,
  retentionContract,
  storageContract,
} from "../../contract/storage/mod.ts";
import { key, REX } from "../../support/pets.ts";
import { anyName, anyNewPet, fc, runs } from "../../support/property.ts";

/** Registers all tests of a storage. `newPlace` makes an empty place. */
export function databaseContract(
  it: RegisterTest,
  newPlace: () => Promise<
    Open<PetStorage & { readonly apiKeys: ApiKeyStorage }>
  >,
): void {
  const open = async (options?: Parameters<Open>[0]) =>
    await (await newPlace())(options);
  storageContract({ it, open, newPlace });
  retentionContract({ it, open });

  for (const older of [[], [1, 2, 3]]) {
    const others = `${older.length} others`;
    const what =
      `a storage replaces an idempotency key that is too old for it, with ${others}, for other storages too`;
    it(what, async () => {
      const open = await newPlace();
      const keeps = await open();
      const forgets = await open({ idempotencyRetention: 0 });
      try {
        for (const number of older) await keeps.create(REX, key(number));
        const first = await keeps.create(REX, key(4));
        const second = await forgets.create(REX, key(4));
        assert.ok(second.id > first.id);
        const again = await keeps.create(REX, key(4));
        assert.deepEqual(again, { ...second, replayed: true });
      } finally {
        await Promise.all([keeps.close(), forgets.close()]);
      }
    }, 60_000);
  }
}

/** Opens a storage. Those opened at one place share their content. */
export type Open<Storage extends PetStorage = PetStorage> = (
  options?: { readonly idempotencyRetention?: number },
) => Promise<Storage>;

/**
 * Registers the laws of a storage: what goes in comes out unchanged, to the last character, digit
 * and millisecond.
 */
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

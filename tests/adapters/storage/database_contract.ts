/**
 * The contract of our own database storages: that of every storage, and how idempotency keys
 * expire.
 */

import assert from "node:assert/strict";
import type { ApiKeyStorage } from "../../../core/api_key_storage.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import {
  type RegisterTest,
  retentionContract,
  storageContract,
} from "../../contract/storage/mod.ts";
import { key, REX } from "../../support/pets.ts";

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

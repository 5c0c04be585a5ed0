/** The contract of our own storages in databases: that of every storage, and how they forget idempotency keys. */

import assert from "node:assert/strict";
import { test, type TestOptions } from "node:test";
import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { retentionContract, storageContract } from "./storage/mod.ts";
import { key, REX } from "../support/pets.ts";

/** Registers tests of `node:test` whose titles begin with the name of a storage. */
export function itOf(
  name: string,
  options: TestOptions = {},
): (title: string, check: () => Promise<void>, timeout?: number) => void {
  return (title, check, timeout = 60_000) =>
    void test(`${name}: ${title}`, { timeout, ...options }, check);
}

/** Registers all tests of a storage; `newPlace` makes a place where nothing is stored. */
export function databaseContract(
  name: string,
  newPlace: () => Promise<
    Open<PetStorage & { readonly apiKeys: ApiKeyStorage }>
  >,
  options?: TestOptions,
): void {
  const it = itOf(name, options);
  const open = async (options?: Parameters<Open>[0]) =>
    await (await newPlace())(options);
  storageContract({ it, open, newPlace });
  retentionContract({ it, open });
  retentionOptionContract(name, open, options);

  for (const older of [[], [1, 2, 3]]) {
    const others = `${older.length} others`;
    const what =
      `a storage replaces an idempotency key that is too old for it, with ${others}, for other storages too`;
    test(`${name}: ${what}`, options, async () => {
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
    });
  }
}

/** Opens a storage; those that are opened at one place share what they keep. */
export type Open<Storage extends PetStorage = PetStorage> = (
  options?: { readonly idempotencyRetention?: number },
) => Promise<Storage>;

/** Registers the test of an option that our own storages have. */
export function retentionOptionContract(
  name: string,
  open: Open,
  options?: TestOptions,
): void {
  const title = "is refused if it is not an integer of at least 0";
  test(`${name}: an idempotencyRetention ${title}`, options, async () => {
    for (const idempotencyRetention of [-1, 0.5, NaN, Infinity]) {
      await assert.rejects(
        async () => await (await open({ idempotencyRetention })).close(),
        RangeError,
        `idempotencyRetention ${idempotencyRetention}`,
      );
    }
  });
}

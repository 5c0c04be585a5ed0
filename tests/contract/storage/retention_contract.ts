/** The promises of a storage about how long it keeps idempotency keys, with one test for each. */

import assert from "node:assert/strict";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { onOpener, type RegisterTest } from "./contract_options.ts";
import { assertReplay } from "./idempotency_contract.ts";
import { assertListed, create, key, REX, samplePet } from "./sample_pets.ts";

/** Options of {@linkcode retentionContract}. */
export interface RetentionContractOptions {
  /** Registers a test for each clause. */
  readonly it: RegisterTest;
  /** Opens a new, empty storage that keeps idempotency keys for this many ms; 0 keeps none. */
  readonly open: (
    options: { readonly idempotencyRetention: number },
  ) => Promise<PetStorage>;
}

/**
 * Registers a test for each promise about how long idempotency keys are kept.
 *
 * @example With `node:test`
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { retentionContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () =>
 *   retentionContract({ it, open: async (options) => memoryStorage(options) });
 * ```
 *
 * @param options how to register a test and open a storage.
 */
export function retentionContract(
  { it: register, open }: RetentionContractOptions,
): void {
  const withOpener = {
    test: onOpener({ it: register, newOpener: async () => open }),
  };

  withOpener.test("an idempotency key is known until its retention ends", async (open) => {
    for (const idempotencyRetention of [90_000, 86_400_000]) {
      const storage = await open({ idempotencyRetention });
      const first = await create(storage, REX, key(1));
      assertReplay(await storage.create(REX, key(1)), first);
      await elapse(100); // so that seconds are not mistaken for ms
      assertReplay(await storage.create(REX, key(1)), first);
    }
  });

  withOpener.test("an idempotency key ends with its retention, and its pet stays", async (open) => {
    const storage = await open({ idempotencyRetention: 200 });
    const first = await create(storage, REX, key(1));
    await elapse(400);
    const second = await create(storage, samplePet(1), key(1));
    await assertListed(storage, { limit: 9 }, [first, second]);
  });

  withOpener.test("an idempotency key that is sent again ends no later", async (open) => {
    const storage = await open({ idempotencyRetention: 200 });
    const first = await create(storage, REX, key(1));
    const ids = new Set<bigint>();
    for (let elapsed = 0; elapsed < 400; elapsed += 20) {
      await elapse(20);
      ids.add((await storage.create(REX, key(1))).id);
    }
    ids.delete(first.id);
    assert.ok(
      ids.size > 0,
      "the key, sent again and again, was always known",
    );
  });

  withOpener.test("with a retention of 0 every create adds a pet", async (open) => {
    const storage = await open({ idempotencyRetention: 0 });
    const pets = [];
    for (const i of [0, 1, 0, 1, 0]) {
      pets.push(await create(storage, samplePet(i), key(i)));
    }
    await assertListed(storage, { limit: 9 }, pets);
  });
}

function elapse(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

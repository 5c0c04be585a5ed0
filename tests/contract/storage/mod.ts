/**
 * The contract of a storage, for authors of storages: a test for each promise of `PetStorage` and
 * `ApiKeyStorage`.
 *
 * It needs no test framework. Pass it the function that registers a test: `it` of `node:test`,
 * `bun:test` or Vitest, or `Deno.test`. Each test ends itself after a minute, which is enough on a
 * busy machine, and passes that limit to the framework. (`node:test` ignores it: with `node:test`
 * on Bun, whose own limit is 5 seconds, pass `--timeout 65000`.)
 *
 * @module
 */

import type { ApiKeyStorage } from "../../../core/api_key_storage.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { apiKeyStorageContract } from "./api_key_storage_contract.ts";
import type { ContractOptions } from "./contract_options.ts";
import { idempotencyContract } from "./idempotency_contract.ts";
import { petStorageContract } from "./pet_storage_contract.ts";

export {
  apiKeyStorageContract,
  type KeepsApiKeys,
} from "./api_key_storage_contract.ts";
export type {
  Closable,
  ContractOptions,
  RegisterTest,
} from "./contract_options.ts";
export { idempotencyContract } from "./idempotency_contract.ts";
export { petStorageContract } from "./pet_storage_contract.ts";
export type * from "../../../core/storage.ts";
export {
  retentionContract,
  type RetentionContractOptions,
} from "./retention_contract.ts";

/**
 * Registers the tests of three contracts: pets, idempotency keys and API keys.
 *
 * @example Without a test framework
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { storageContract } from "@petstore/service/contract";
 *
 * // Each check rejects if the storage breaks its promise.
 * const checks: (() => Promise<void>)[] = [];
 * storageContract({
 *   it: (_title, check) => checks.push(check),
 *   open: async () => memoryStorage(),
 * });
 * for (const check of checks) await check();
 * ```
 *
 * @param options how to register a test and open a storage.
 */
export function storageContract(
  options: ContractOptions<PetStorage & { readonly apiKeys: ApiKeyStorage }>,
): void {
  petStorageContract(options);
  idempotencyContract(options);
  apiKeyStorageContract(options);
}

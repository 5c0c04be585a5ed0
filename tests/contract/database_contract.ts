/** What our own storages in databases are held to. */

import { test } from "node:test";
import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import {
  type Open,
  retentionContract,
  sharedRetentionContract,
} from "./retention_contract.ts";
import { type RegisterTest, storageContract } from "./storage/mod.ts";
import type { TestOptions } from "./test_options.ts";

/** Registers tests of `node:test` whose titles begin with the name of a storage. */
export function itOf(name: string, options: TestOptions = {}): RegisterTest {
  return (title, check) => test(`${name}: ${title}`, options, check);
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
  const open = async () => await (await newPlace())();
  storageContract({ it, open, newPlace });
  retentionContract(it, newPlace);
  sharedRetentionContract(it, newPlace);
}

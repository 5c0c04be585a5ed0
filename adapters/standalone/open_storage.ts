/**
 * The storages that the standalone server can be told to use.
 *
 * @module
 */

import type { ApiKeyStorage } from "../../core/issued_keys.ts";
import type { PetStorage } from "../../core/pet_storage.ts";
import { memoryStorage } from "../storage/memory.ts";
import type { Database } from "./config.ts";

/** A storage that keeps keys beside the animals. */
export interface Storage extends PetStorage {
  readonly apiKeys: ApiKeyStorage;
}

/** Opens what a database address names. A driver is loaded only here, and only the one needed. */
export async function openStorage(database: Database): Promise<Storage> {
  if (database.kind === "memory") return memoryStorage();
  const { sqliteStorage } = await import("../storage/sqlite.ts");
  return await sqliteStorage(database.path);
}

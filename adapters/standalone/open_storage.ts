/**
 * The storages that the standalone server can be told to use.
 *
 * @module
 */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { memoryStorage } from "../memory/mod.ts";
import { ConfigError, type Database } from "./config.ts";

/** A storage that keeps keys beside the animals. */
export interface Storage extends PetStorage {
  readonly apiKeys: ApiKeyStorage;
}

/**
 * Opens what a database address names. A driver is loaded only here, and only the one needed.
 *
 * @throws {ConfigError} where the address is wrong.
 */
export async function openStorage(database: Database): Promise<Storage> {
  switch (database.kind) {
    case "memory":
      return memoryStorage();
    case "sqlite": {
      const { sqliteStorage } = await import("../sqlite/mod.ts");
      return await sqliteStorage(database.path);
    }
    case "postgres":
      return await openPostgres(database.url);
  }
}

async function openPostgres(url: string): Promise<Storage> {
  const { postgresStorage } = await import("../postgres/mod.ts");
  try {
    return await postgresStorage(url);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new ConfigError(`DATABASE_URL is wrong: ${cause.message}`, { cause });
  }
}

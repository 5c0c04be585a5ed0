/**
 * The storages that the standalone server can be told to use.
 *
 * @module
 */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import type { Database } from "./config.ts";

/** A storage that also keeps API keys. */
export interface Storage extends PetStorage {
  readonly apiKeys: ApiKeyStorage;
}

/**
 * Opens a database. Only its own driver is loaded.
 *
 * @throws {ConfigError} if the address is wrong.
 */
export async function openStorage(database: Database): Promise<Storage> {
  switch (database.kind) {
    case "memory": {
      const { memoryStorage } = await import("../memory/mod.ts");
      return memoryStorage();
    }
    case "sqlite": {
      const { sqliteStorage } = await import("../sqlite/mod.ts");
      return await sqliteStorage(database.path);
    }
    case "postgres": {
      const { postgresStorage } = await import("../postgres/mod.ts");
      const { openPostgres } = await import("./open_postgres.ts");
      return await openPostgres("DATABASE_URL", database.url, postgresStorage);
    }
  }
}

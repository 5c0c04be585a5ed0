/** Opens the databases that the programs can use. Only the driver in use is loaded. */

import { resolve } from "node:path";
import process from "node:process";
import type { PetDatabase, PoolCounts } from "../storage/pet_database.ts";
import {
  describeHosts,
  type PostgresAddress,
} from "../storage/postgres/address.ts";
import type { Source, Target } from "../storage/transfer.ts";
import type { Config, LastingDatabase } from "./config.ts";
import { logMessage } from "./log.ts";
import { standardError } from "./output.ts";

/** Opens the database that the configuration names. */
export async function openStorage(
  { database, idempotencyRetention }: Config,
): Promise<PetDatabase & { readonly pool?: () => PoolCounts }> {
  const options = { idempotencyRetention };
  switch (database.kind) {
    case "memory":
      return (await import("../storage/memory/mod.ts")).memoryStorage(options);
    case "sqlite": {
      const { sqliteStorage } = await import("../storage/sqlite/mod.ts");
      return await sqliteStorage(database.path, options);
    }
    case "postgres": {
      const { openPostgres } = await import("../storage/postgres/open.ts");
      const { address } = database;
      const settings = { ...options, onWarning: logMessage };
      return await waitingFor(address, () => openPostgres(address, settings));
    }
  }
}

/** Opens a database to copy from it. */
export async function openSource(database: LastingDatabase): Promise<Source> {
  if (database.kind === "sqlite") {
    const { sqliteSource } = await import("../storage/sqlite/transfer.ts");
    return await sqliteSource(database.path);
  }
  const { postgresSource } = await import("../storage/postgres/transfer.ts");
  const { address } = database;
  return await waitingFor(address, () => postgresSource(address));
}

/** Opens a database to copy to it. */
export async function openTarget(database: LastingDatabase): Promise<Target> {
  if (database.kind === "sqlite") {
    const { sqliteTarget } = await import("../storage/sqlite/transfer.ts");
    return sqliteTarget(database.path);
  }
  const { postgresTarget } = await import("../storage/postgres/transfer.ts");
  const { address } = database;
  return await waitingFor(address, () => postgresTarget(address));
}

/** Names a database as `DATABASE_URL` does, from any folder and without a password. */
export function describeDatabase(database: LastingDatabase): string {
  if (database.kind === "sqlite") return `sqlite:${resolve(database.path)}`;
  const { hosts, driver } = database.address;
  const name = driver.database ?? process.env.PGDATABASE ?? "";
  return `postgres://${describeHosts(hosts)}/${name}`;
}

/**
 * Opens PostgreSQL. After a second, says on standard error what it waits for. If no host answers,
 * that takes 10 s (`openTimeout`, or `connectTimeout` of a copy), and up to a few connection
 * timeouts more if there are several hosts.
 */
async function waitingFor<T>(
  { hosts }: PostgresAddress,
  open: () => Promise<T>,
): Promise<T> {
  const message = `PostgreSQL at ${
    describeHosts(hosts)
  } does not answer yet: waiting for about 10 s\n`;
  const timer = setTimeout(() => standardError.write(message), 1000);
  return await open().finally(() => clearTimeout(timer));
}

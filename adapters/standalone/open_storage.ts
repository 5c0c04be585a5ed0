/** Opens the databases that the programs can use. Only the driver in use is loaded. */

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import type { PetDatabase, PoolCounts } from "../storage/pet_database.ts";
import {
  describeHosts,
  type PostgresAddress,
} from "../storage/postgres/address.ts";
import type { Access, Transfer } from "../storage/transfer.ts";
import type { Config, Database, LastingDatabase } from "./config.ts";
import { writeLine } from "./log.ts";
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
      const tell = (message: string) => writeLine(standardError, { message });
      const settings = { ...options, onMove: tell, onWarning: tell };
      return await waitingFor(address, () => openPostgres(address, settings));
    }
  }
}

/** Opens a database so that its tables can be copied. */
export async function openTransfer(
  database: LastingDatabase,
  access: Access,
): Promise<Transfer> {
  if (database.kind === "sqlite") {
    const { sqliteTransfer } = await import("../storage/sqlite/transfer.ts");
    return await sqliteTransfer(database.path, access);
  }
  const { postgresTransfer } = await import("../storage/postgres/transfer.ts");
  const { address } = database;
  return await waitingFor(address, () => postgresTransfer(address, access));
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

/** On Deno, gives up the file permissions that these open databases do not need. */
export async function giveBackPermissions(
  ...databases: readonly Database[]
): Promise<void> {
  if (!("Deno" in globalThis)) return;
  const needed = databases.flatMap(neededPermissions);
  for (const name of ["read", "write"] as const) {
    if (!needed.includes(name)) await Deno.permissions.revoke({ name });
  }
}

function neededPermissions(database: Database): readonly ("read" | "write")[] {
  // SQLite keeps its files open, but watched_files.ts checks by path that they are still in place.
  // It cannot rename an old log: Deno cannot keep `write` for one folder if it was allowed for all.
  // And it lets only a program with all permissions see what is in /dev, such as /dev/shm.
  if (database.kind === "sqlite") {
    const isDevice = realpathSync(database.path).startsWith("/dev/");
    return isDevice ? ["read", "write"] : ["read"];
  }
  if (database.kind === "memory") return [];
  // Each connection to a Unix socket reads and writes a file.
  const isSocket = database.address.hosts.some((
    { host = process.env.PGHOST },
  ) => host?.startsWith("/"));
  return isSocket ? ["read", "write"] : [];
}

/** Opens the databases that the programs can be told to use. Only the driver in use is loaded. */

import process from "node:process";
import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { check, type Database } from "./config.ts";
import { standardError } from "./output.ts";

/** A storage that also keeps API keys. */
export interface Storage extends PetStorage {
  readonly apiKeys: ApiKeyStorage;
}

/** @throws {ConfigError} if the address is wrong. */
export async function openStorage(database: Database): Promise<Storage> {
  switch (database.kind) {
    case "memory":
      return (await import("../memory/mod.ts")).memoryStorage();
    case "sqlite":
      return await (await import("../sqlite/mod.ts")).sqliteStorage(
        database.path,
      );
    case "postgres": {
      const { postgresStorage } = await import("../postgres/mod.ts");
      return await openPostgres("DATABASE_URL", database.url, postgresStorage);
    }
  }
}

/**
 * Opens PostgreSQL; if that takes long, says on standard error what it is waiting for.
 *
 * @throws {ConfigError} if the address is wrong; it names the `setting` that the address comes from.
 */
export async function openPostgres<T>(
  setting: string,
  url: string,
  open: (url: string) => Promise<T>,
): Promise<T> {
  const { describeHosts, parsePostgresUrl } = await import(
    "../postgres/address.ts"
  );
  const { hosts } = check(setting, () => parsePostgresUrl(url));
  const message = `PostgreSQL at ${
    describeHosts(hosts)
  } does not answer yet: waiting for about 10 s\n`;
  const timer = setTimeout(() => standardError.write(message), 1000);
  return await open(url).finally(() => clearTimeout(timer));
}

/**
 * Gives back the permissions that these open databases do not need: from then on no code of this process
 * can write a file. The tasks allow all files, so that a database may be anywhere. Only Deno has permissions.
 */
export async function giveBackPermissions(
  ...databases: readonly Database[]
): Promise<void> {
  if (!("Deno" in globalThis)) return;
  const needed = (await Promise.all(databases.map(neededPermissions))).flat();
  for (const name of ["read", "write"] as const) {
    if (!needed.includes(name)) await Deno.permissions.revoke({ name });
  }
}

async function neededPermissions(
  database: Database,
): Promise<readonly ("read" | "write")[]> {
  // SQLite keeps its files open, but checks by path that they are still in place.
  if (database.kind === "sqlite") return ["read"];
  if (database.kind === "memory") return [];
  const { parsePostgresUrl } = await import("../postgres/address.ts");
  const { hosts } = parsePostgresUrl(database.url);
  // Each connection to a Unix socket reads and writes a file.
  const isSocket = hosts.some(({ host = process.env.PGHOST }) =>
    host?.startsWith("/")
  );
  return isSocket ? ["read", "write"] : [];
}

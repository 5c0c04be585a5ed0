/**
 * On Deno the tasks may read and write everywhere, so that a database may be anywhere. Once it is open,
 * the program gives back what it no longer needs: from then on neither its own code nor a package can
 * write a file.
 *
 * @module
 */

import process from "node:process";
import type { Database } from "./config.ts";

/** Gives back, for the rest of this process, what these open databases do not need. Only Deno has permissions. */
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

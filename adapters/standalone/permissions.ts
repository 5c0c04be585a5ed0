/**
 * On Deno the tasks grant reading and writing everywhere, so that a database may be anywhere. Once it
 * is open, the program gives back what it no longer needs: it cannot write any file from then on, even
 * if its own code or a package tried to.
 *
 * @module
 */

import process from "node:process";
import type { Database } from "./config.ts";

/**
 * Gives permissions back for the rest of this process, on Deno; Bun and Node have none.
 *
 * @param databases all that are open.
 */
export async function giveBackPermissions(
  ...databases: readonly Database[]
): Promise<void> {
  if (!("Deno" in globalThis)) return;
  const kept = new Set(
    (await Promise.all(databases.map(neededPermissions))).flat(),
  );
  for (const name of ["read", "write"] as const) {
    if (!kept.has(name)) await Deno.permissions.revoke({ name });
  }
}

async function neededPermissions(
  database: Database,
): Promise<readonly ("read" | "write")[]> {
  switch (database.kind) {
    case "memory":
      return [];
    case "sqlite":
      // SQLite goes on with the files that it has open; but to see that they are still in place, they
      // are looked at by path.
      return ["read"];
    case "postgres": {
      const { parsePostgresUrl } = await import("../postgres/address.ts");
      const { hosts } = parsePostgresUrl(database.url);
      // Each connection to a Unix socket reads and writes a file.
      return hosts.some(({ host = process.env.PGHOST }) =>
          host?.startsWith("/")
        )
        ? ["read", "write"]
        : [];
    }
  }
}

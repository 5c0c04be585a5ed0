/**
 * Stores pets in PostgreSQL 13 or later, through the driver `pg`, for any number of servers on any
 * number of machines.
 *
 * A fulfilled create is committed. Creates that arrive together at one server share a statement,
 * and all servers take turns, so that ids become visible in ascending order. Reads share statements
 * too.
 *
 * @module
 */

import type { PetDatabase } from "../pet_database.ts";
import { parsePostgresUrl } from "./address.ts";
import { openPostgres, type PostgresStorageOptions } from "./open.ts";

export type { PetDatabase } from "../pet_database.ts";
export type { PostgresStorageOptions } from "./open.ts";

/**
 * Opens a PostgreSQL database, and creates its tables if they are missing.
 *
 * The address is a connection URI of libpq. Of several servers the one that accepts writes is used.
 * TLS is set by `sslmode`, `sslrootcert`, `sslcert` and `sslkey`: without `sslmode` and `PGSSLMODE`
 * the connection is not encrypted; `require` encrypts, `verify-full` also checks who the server is.
 * Two parameters are not libpq's: `connection_limit=N` (default 10), and `pgbouncer=true` for a
 * pooler that gives each transaction another connection, which turns prepared statements off.
 *
 * On Deno it needs `--allow-net=HOST:PORT` and `--allow-env=PG*`; for a Unix socket also
 * `--allow-read` and `--allow-write` of it.
 *
 * @example
 * ```ts
 * import { env } from "node:process";
 * import { postgresStorage } from "@petstore/service/postgres";
 *
 * const storage = env.DATABASE_URL && await postgresStorage(env.DATABASE_URL);
 * ```
 * @throws {TypeError} if the address is malformed, or has a parameter that is unknown or wrong.
 * @throws {RangeError} if an option is out of range.
 * @throws {StorageError} `unavailable` if the database cannot be used; the message says why. The
 * tables of another program, or of another version of this one, are not changed.
 */
export async function postgresStorage(
  url: string,
  options?: PostgresStorageOptions,
): Promise<PetDatabase> {
  return await openPostgres(parsePostgresUrl(url), options);
}

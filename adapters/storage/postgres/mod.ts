/**
 * Stores pets in PostgreSQL 13 or later, through the driver `pg`, for any number of servers on any
 * number of machines.
 *
 * Once a create resolves, it is committed. Creates that arrive together at one server share a
 * statement, and all servers take turns, so that ids become visible in ascending order. Reads share
 * statements too.
 *
 * @module
 */

import type { PetDatabase } from "../pet_database.ts";
import { parsePostgresUrl } from "./address.ts";
import { openPostgres, type PostgresStorageOptions } from "./open.ts";

export type { PetDatabase } from "../pet_database.ts";
export type * from "../../../core/storage.ts";
export type { PostgresStorageOptions } from "./open.ts";

/**
 * Opens a PostgreSQL database, and creates its tables if they are missing.
 *
 * The address is a connection URI of libpq. If it names several servers, the first that accepts
 * writes is used. TLS is set by `sslmode`, `sslrootcert`, `sslcert` and `sslkey`. Without `sslmode`
 * and `PGSSLMODE` the connection is not encrypted; `require` encrypts, and `verify-full` also
 * checks the server's identity. Two parameters are not libpq's: `connection_limit=N` (default 10),
 * and `pgbouncer=true`, which turns prepared statements off for a pooler that may give each
 * transaction a different connection.
 *
 * On Deno it needs `--allow-net=HOST:PORT` and `--allow-env=PG*`; a Unix socket also needs
 * `--allow-read` and `--allow-write` for its path.
 *
 * @example Open a database
 * ```ts
 * import { env } from "node:process";
 * import { postgresStorage } from "@petstore/service/postgres";
 *
 * const storage = env.DATABASE_URL && await postgresStorage(env.DATABASE_URL);
 * ```
 *
 * @param url the address of the database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
 * @param options time limits, and who is told of risky settings.
 * @returns the storage, whose `apiKeys` keeps issued keys.
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

/** The driver's settings for each connection. */

import process from "node:process";
import pg from "pg";
import { MAX_TIME } from "../../../core/kit.ts";
import type { PostgresAddress } from "./address.ts";

/** Time limits in ms. */
export interface TimeLimits {
  /** For a connection, at each server. */
  readonly connectTimeout: number;
  /** For the result of a statement. */
  readonly queryTimeout: number;
  /** For a lock that another transaction holds. */
  readonly lockTimeout: number;
}

// They override the database's defaults. PostgreSQL 15 needed those about plans (its manual,
// `plan_cache_mode`); tests/adapters/storage/postgres/plans_slow.ts shows which can
// go.
export const SETTINGS = [
  // With another isolation level, creates that take turns fail (40001).
  "-c default_transaction_isolation=read\\ committed",
  // Otherwise a page may be planned each time, which takes longer than reading it.
  "-c plan_cache_mode=force_generic_plan",
  // The cached plan may be made while the table is empty, and would scan the whole table.
  "-c enable_seqscan=off",
  // A plan for any limit must expect a large one, and would be JIT-compiled for it.
  "-c jit=off",
].join(" ");

export type ClientSettings = ReturnType<typeof settingsOf>;

/** Returns the driver's settings for each connection. */
export function settingsOf(
  { driver, pgbouncer }: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: TimeLimits,
) {
  // PgBouncer refuses settings sent with a new connection (see `IS_POOLER` in fault.ts).
  const direct = {
    options: `${driver.options ?? process.env.PGOPTIONS ?? ""} ${SETTINGS}`,
    lock_timeout: lockTimeout,
    // Otherwise a statement that nobody waits for any more would keep its backend busy after its
    // connection is replaced. This does not end a commit that waits for a standby: PostgreSQL has
    // stopped this timer by then (seen in 15; tested by
    // tests/adapters/storage/postgres/faults_slow.ts).
    statement_timeout: Math.min(queryTimeout + 500, MAX_TIME),
  };
  const types = new pg.TypeOverrides();
  // Without this an int8 is a string (the driver's document Data Types).
  types.setTypeParser(pg.types.builtins.INT8, BigInt);
  return {
    ...driver,
    connectionTimeoutMillis: connectTimeout,
    ...pgbouncer ? {} : direct,
    password: driver.password ?? environmentPassword,
    types,
  };
}

/**
 * Without this `pg` 8.23 would look for a password file, and on Deno end the program if it may not
 * read one (`_getPassword` in its lib/client.js). Can go with `pg` 9, which will no longer look for
 * it (same file).
 */
function environmentPassword(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it in the address, or in PGPASSWORD",
  );
}

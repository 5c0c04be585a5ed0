/** Turns: of all transactions with the same lock, on any server, one runs at a time. */

// The upper half of each lock is "PETS" in ASCII.
/** Held while tables or columns are added. */
export const SCHEMA_LOCK = 0x50455453_00000001n;
/**
 * Held while pets and idempotency keys are added or copied, so that ids become visible in ascending
 * order, and while the next id is set.
 */
export const PETS_LOCK = 0x50455453_00000002n;
/** Held while API keys are added, changed or copied. */
export const API_KEYS_LOCK = 0x50455453_00000003n;

/**
 * Makes the part of a `SELECT` that takes a turn: it calls functions, whose results are not used. A
 * transaction that writes begins with it, and waits for its turn, which lasts until its commit is
 * visible to all others. The commit waits for the disk even if the database is configured not to,
 * and the server warns if it did not wait for a standby.
 *
 * Why `pg_catalog.`: in a schema of the search path, another user of the database may have created
 * a function or operator of the same name that matches these argument types better (PostgreSQL's
 * manual, "Function Type Resolution"). It would run as this user. What is used without
 * `pg_catalog.` needs no conversion of types: an exact match is preferred, and literals and
 * parameters without a type count as `text` before any other type.
 *
 * @param lock which turn: one of the locks above.
 * @param timeout the parameter for the maximum wait, such as `$4` for `3000ms`, or `?`.
 */
export function turnSql(lock: bigint, timeout: string): string {
  return `set_config('lock_timeout', ${timeout}, true),
      CASE current_setting('synchronous_commit') WHEN 'off'
        THEN set_config('synchronous_commit', 'on', true) END,
      set_config('client_min_messages', 'warning', true),
      pg_catalog.pg_advisory_xact_lock(${lock})`;
}

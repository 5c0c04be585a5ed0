/** Translates PostgreSQL's errors (its manual, appendix A) for the storage port. */

import { StorageError } from "../../../core/storage.ts";
import { storageError } from "../pet_database.ts";

/**
 * PgBouncer refuses settings sent with a new connection (its document Configuration,
 * `ignore_startup_parameters`; pgbouncer/pgbouncer#1074). Tested by
 * tests/lab/faults/pgbouncer_fault.ts.
 */
const IS_POOLER = /^unsupported startup parameter/;

/**
 * Faults that PgBouncer reports before it forwards a statement. Their code, 08P01, looks like a
 * lost connection (pgbouncer/pgbouncer#1094; its document Configuration, `query_wait_timeout`). Can
 * go if PgBouncer gives them another code.
 */
const POOLER_FAULT =
  /^(?:server login has been failing|query_wait_timeout|pgbouncer cannot connect)/;

/**
 * Transient faults of the operating system, by code; ENOENT is a missing Unix socket. And of the
 * driver, which has no codes, by message: no connection or no answer in time, or a lost connection
 * (lib/client.js of `pg` 8.23). And of the pool.
 */
const TRANSIENT =
  /^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|ENOENT|EAI_AGAIN|EPIPE|ETIMEDOUT)$|^Query read timeout$|connection timeout$|^timeout expired$|^Connection terminated|^no connection was free/;

/**
 * The driver refuses to send a statement because its connection was lost or closed just after the
 * pool lent it: seen on Deno and Bun with `pg` 8.23 (`query()` in its lib/client.js;
 * brianc/node-postgres#1790). If the message changes,
 * tests/adapters/storage/postgres/connections_test.ts fails.
 */
const NOT_QUERYABLE = /^Client .* is not queryable$/;

/**
 * SQLSTATEs, or classes of them, that blame the server and not the statement: its connections (08),
 * sessions (25), log-ins (28), resources (53), operators (57) or disks (58). Or it lacks a prepared
 * statement (26), has one too many (42P05), gave up a transaction (40), or did not get a lock (55).
 */
const OF_THE_SERVER = /^(?:$|08|25|26|28|40|42P05|53|55|57|58)/;

/**
 * SQLSTATEs after which the statement may have been run: its connection ended (08 without 08001;
 * 25P03; 25P04; 57P01 to 57P04, and for 57P05 see `isUnsent`), the server does not know (40003), or
 * it failed in the middle (58, XX).
 */
const UNCERTAIN = /^(?:$|08(?!001)|25P0[34]|40003|57P0[^5]|58|XX)/;

/** A warning or an error of the server. */
export interface Notice {
  readonly severity?: string | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** The function in the server's source that sent it. */
  readonly routine?: string | undefined;
}

/**
 * Tells whether a connection, and every older one, is now useless. Either it was lost, or its
 * prepared statements return columns from before an `ALTER TABLE`, which PostgreSQL 15 refuses in
 * `RevalidateCachedQuery` (its src/backend/utils/cache/plancache.c). Tested by
 * tests/adapters/storage/postgres/tables_test.ts.
 */
export function isConnectionUseless(error: unknown): boolean {
  return /^(?:$|08|57P)/.test(sqlState(error)) ||
    (error as Notice).routine === "RevalidateCachedQuery";
}

/**
 * Tells whether a failed read may succeed on another connection: its own is useless, or it hit a
 * serialization failure (40001) or a deadlock (40P01).
 */
export function canBeRepeated(error: unknown): boolean {
  return isConnectionUseless(error) ||
    /^40(?:001|P01)$/.test(sqlState(error));
}

/**
 * Tells whether a statement was not run, because its connection had already ended. The driver did
 * not send it, or the server had closed the connection for being idle (57P05,
 * `idle_session_timeout`), which it only does between statements.
 */
export function isUnsent(error: unknown): boolean {
  return sqlState(error) === "57P05";
}

/**
 * Tells whether a server that works refused a log-in, for example because of a wrong password, or
 * too many connections. Then, as in libpq, no other host is tried.
 */
export function isRefusal(error: unknown): boolean {
  return (error as Notice).severity !== undefined &&
    !/^(?:08|57P)/.test(sqlState(error));
}

/** Tells whether there was no result in time. */
export function isTimeout(error: unknown): boolean {
  return messageOf(error) === "Query read timeout";
}

/** Tells whether a server that accepted writes became read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === "25006";
}

/** Tells whether a warning means that a commit is on one machine only. */
export function isNotReplicated({ code, routine }: Notice): boolean {
  // A trigger may use these codes too, but the server says which function sent a warning:
  // `SyncRepWaitForLSN` (its src/backend/replication/syncrep.c). A proxy may omit that. Tested by
  // tests/adapters/storage/postgres/tables_test.ts.
  return (code === "01000" || code === "57P01") &&
    (routine === undefined || routine === "SyncRepWaitForLSN");
}

/** Makes the fault of an action. If it is `unavailable`, nothing happened. */
export function fault(
  kind: StorageError["kind"],
  action: string,
  cause: unknown,
): StorageError {
  return storageError(kind, action, reason(cause), cause);
}

/**
 * Makes the fault of a statement: `outcome_unknown` if it commits changes and may have been run,
 * otherwise `unavailable`. An error that is not about the state of the server is returned
 * unchanged.
 */
export function statementFault(
  action: string,
  error: unknown,
  { commits }: { readonly commits: boolean },
): unknown {
  const state = sqlState(error);
  if (commits && UNCERTAIN.test(state)) {
    return fault("outcome_unknown", action, error);
  }
  if (!OF_THE_SERVER.test(state)) return error;
  return fault("unavailable", action, error);
}

/** A server that is read-only. During a switchover every server may be. */
export class WrongServer extends Error {}

/** Tells whether a server that failed may work a moment later, or a lock (55P03) be free. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return error instanceof WrongServer ||
    /^(?:08|53|55P03|57P)/.test(sqlState(error));
}

function reason(error: unknown): string {
  // One error for each server, or for each address of its name.
  if (error instanceof AggregateError) {
    const reasons = error.errors.map(reason).join("; ");
    return error.message === "" ? reasons : `${error.message}: ${reasons}`;
  }
  const message = messageOf(error)
    .replace(/^getaddrinfo \w+ (.*)$/, "the host $1 cannot be found");
  // Prepared statements are missing (26000) or already exist (42P05) behind PgBouncer in
  // transaction mode, unless it tracks them (its document Configuration,
  // `max_prepared_statements`).
  return /^(?:26000|42P05)$/.test(sqlState(error))
    ? `it is a pooler: add pgbouncer=true to the address (${message})`
    : message;
}

/**
 * Returns the SQLSTATE of an error, or the one that fits best if it has none, or a misleading one.
 * Empty if none fits; then the connection may be lost.
 */
function sqlState(error: unknown): string {
  if (error instanceof StorageError) return sqlState(error.cause);
  const { code = "", severity }: Notice = Object(error);
  const message = messageOf(error);
  // Errors of the system have codes, but no `severity`.
  if (severity === undefined) {
    if (NOT_QUERYABLE.test(message)) return "57P05";
    return TRANSIENT.test(code) || TRANSIENT.test(message) ? "08006" : "";
  }
  if (code !== "08P01") return code;
  if (IS_POOLER.test(message)) return "26000";
  return POOLER_FAULT.test(message) ? "08001" : code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

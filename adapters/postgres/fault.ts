/**
 * PostgreSQL's errors in the words of the storage port.
 *
 * @module
 * @see {@link https://www.postgresql.org/docs/current/errcodes-appendix.html}
 */

import { StorageError } from "../../core/pets/pet_storage.ts";

/** PgBouncer refuses settings that are sent when a connection is made. */
const IS_POOLER = /^unsupported startup parameter/;

const POOLER_REASON = "it is a pooler: add pgbouncer=true to the address";

/** What an operator reads in place of the driver's own words. */
const DRIVER_REASONS: readonly (readonly [RegExp, string])[] = [
  [/^Query read timeout$/, "it did not answer in time"],
  [
    /connection timeout$|^timeout expired$|^timeout exceeded/,
    "no connection was made in time",
  ],
  [/^Connection terminated/, "the connection was lost"],
  [IS_POOLER, POOLER_REASON],
];

/** What an operator reads for a code of the system; its own message follows. */
const SYSTEM_REASONS: ReadonlyMap<unknown, string> = new Map([
  ["ECONNREFUSED", "nothing listens there; is PostgreSQL running?"],
  ["ENOTFOUND", "the host is unknown"],
  ["ENOENT", "the socket does not exist; is PostgreSQL running?"],
]);

/** Every connection of the pool is in use. */
const ALL_TAKEN = /^timeout exceeded/;

/** PgBouncer has not sent a statement on, although its code is that of a lost connection. */
const NOT_SENT =
  /^(?:server login has been failing|query_wait_timeout|pgbouncer cannot connect)/;

/** What an operator reads for a SQLSTATE; the server's own message follows. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["25006", "the server is read-only; it may be a standby"],
  // A prepared statement that is missing, or exists already.
  ["26000", POOLER_REASON],
  ["42P05", POOLER_REASON],
  ["28000", "the server refuses this user"],
  ["28P01", "the server refuses this password"],
  ["3D000", "the server has no such database"],
  ["53100", "the disk of the server is full"],
  ["53300", "the server has no connection left"],
  ["55P03", "others kept a lock for too long"],
  ["57014", "the server cancelled it"],
  ["57P01", "the server is shutting down"],
  ["57P02", "the server crashed"],
  ["57P03", "the server is starting or shutting down"],
]);

/** Classes of SQLSTATE about the state of the server, not about the statement. */
const OF_THE_SERVER = /^(?:08|25|26|28|40|42P05|53|55|57|58)/;

/** A statement may have been carried out: the connection ended, or the server does not know (40003). */
const UNCERTAIN = /^(?:08|25P0[34]|40003|57P|58|XX)/;

/** Warnings of a commit that did not wait for its standby: the pet is on one machine only. */
const NOT_REPLICATED = new Set(["01000", "57P01"]);
/** The function of PostgreSQL that warns so. Triggers use the same code. */
const WARNS = "SyncRepWaitForLSN";

/** A warning of the server beside its answer. */
export interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** The function in the server's source that sent it. */
  readonly routine?: string | undefined;
}

/** Tells whether a statement that failed may have been carried out all the same. */
export function mayHaveHappened(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined) return true;
  return UNCERTAIN.test(code) && !NOT_SENT.test(messageOf(error));
}

/** Tells whether a connection in use has become useless, which a failed statement alone does not cause. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return code === undefined || /^(?:08|57P)/.test(code);
}

/** Tells whether all connections are in use: another server would not help. */
export function areAllTaken(error: unknown): boolean {
  return ALL_TAKEN.test(messageOf(error));
}

/** Tells whether a warning means that a commit is less durable than it should be. */
export function isNotReplicated({ code = "", routine }: Notice): boolean {
  return NOT_REPLICATED.has(code) && (routine ?? WARNS) === WARNS;
}

/** A fault before anything was sent: nothing happened. */
export function connectFault(action: string, error: unknown): StorageError {
  return new StorageError("unavailable", `Cannot ${action}: ${reason(error)}`, {
    cause: error,
  });
}

/**
 * The fault of a statement that has changed nothing: `unavailable`. An error that is not about the
 * state of the server is returned as it is.
 */
export function statementFault(action: string, error: unknown): unknown {
  const code = sqlState(error);
  if (code !== undefined && !OF_THE_SERVER.test(code)) return error;
  return connectFault(action, error);
}

/** The fault of a change that may have happened. */
export function outcomeUnknown(action: string, error: unknown): StorageError {
  return new StorageError(
    "outcome_unknown",
    `Cannot tell the outcome (${action}): ${reason(error)}`,
    { cause: error },
  );
}

const PASSING = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ENOENT", // a Unix socket
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
]);

/** A server that was reached, but takes no writes. During a switchover none does. */
export class ReadOnlyServer extends Error {
  /** Makes the error. */
  constructor() {
    super("the server is read-only");
  }
}

/** Tells whether a server that could not be used may be usable a moment later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ReadOnlyServer) return true;
  if (error instanceof AggregateError) return error.errors.some(isPassing);
  const state = sqlState(error);
  if (state !== undefined) {
    return /^(?:08|53|57P)/.test(state) && !IS_POOLER.test(error.message);
  }
  if ("code" in error) return PASSING.has(String(error.code));
  return DRIVER_REASONS.some(([pattern]) => pattern.test(error.message));
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  // One error for each server, or for each address of its name.
  if (error instanceof AggregateError && message === "") {
    return error.errors.map(reason).join("; ");
  }
  const code = sqlState(error);
  const known = code !== undefined
    ? REASONS.get(code)
    : "code" in error
    ? SYSTEM_REASONS.get(error.code)
    : undefined;
  if (known !== undefined) return `${known} (${message})`;
  return DRIVER_REASONS.find(([pattern]) => pattern.test(message))?.[1] ??
    message;
}

/** The SQLSTATE of an error that the server sent. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  // Errors of the system have codes too: EPIPE is five letters as well.
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) &&
      "severity" in error
    ? code
    : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

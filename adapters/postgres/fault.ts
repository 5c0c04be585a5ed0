/**
 * PostgreSQL's errors in the words of the storage port.
 *
 * @module
 * @see {@link https://www.postgresql.org/docs/current/errcodes-appendix.html}
 */

import { StorageError } from "../../core/pets/pet_storage.ts";

/** PgBouncer's words for settings that are sent when a connection is made. */
const IS_POOLER = /^unsupported startup parameter/;

const POOLER_WORDS =
  "it is a pooler, which wants pgbouncer=true in the address";

/** What an operator reads in place of the driver's own words. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Query read timeout$/, "it did not answer in time"],
  [
    /connection timeout$|^timeout expired$|^timeout exceeded/,
    "there was no connection in time",
  ],
  [/^Connection terminated/, "the connection was lost"],
  [IS_POOLER, POOLER_WORDS],
];

/** The driver's words where every connection of the pool is taken. */
const ALL_TAKEN = /^timeout exceeded/;

/** PgBouncer's words where it has not sent a statement on; its code is that of a lost connection. */
const NOT_SENT =
  /^(?:server login has been failing|query_wait_timeout|pgbouncer cannot connect)/;

/** What an operator reads for a SQLSTATE; the server's own message follows. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["25006", "the server only reads: it is a standby, or set to read-only"],
  // A prepared statement that is not there, or is there already.
  ["26000", POOLER_WORDS],
  ["42P05", POOLER_WORDS],
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

/** Classes of SQLSTATE that are about the state of the server, not about what was asked of it. */
const OF_THE_SERVER = /^(?:08|25|26|28|40|42P05|53|55|57|58)/;

/**
 * Errors after which it is not known whether a statement was carried out: the connection ended, or
 * the server itself does not know (40003).
 */
const UNCERTAIN = /^(?:08|25P0[34]|40003|57P|58|XX)/;

/**
 * What `COMMIT`, or a statement that commits by itself, warns of where it did not wait for the
 * standby that it should have waited for: the animal is on one machine only.
 */
const NOT_REPLICATED = new Set(["01000", "57P01"]);
/** The function of PostgreSQL that warns so. Triggers warn with the same code, and others may. */
const WARNS = "SyncRepWaitForLSN";

/** What a server tells beside its answer. */
export interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** The function of the server's source that tells it. */
  readonly routine?: string | undefined;
}

/** Tells whether a statement that failed may have been carried out all the same. */
export function mayHaveHappened(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined) return true;
  return UNCERTAIN.test(code) && !NOT_SENT.test(messageOf(error));
}

/** Tells whether a connection that was in use is no good any more: no fault of one statement does that. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return code === undefined || /^(?:08|57P)/.test(code);
}

/** Tells whether there was no connection because all are in use: no other server would help. */
export function areAllTaken(error: unknown): boolean {
  return ALL_TAKEN.test(messageOf(error));
}

/** Tells whether a warning means that a commit is less durable than it should be. */
export function isNotReplicated({ code = "", routine }: Notice): boolean {
  return NOT_REPLICATED.has(code) && (routine ?? WARNS) === WARNS;
}

/** A fault that came before anything was sent: nothing happened. */
export function connectFault(action: string, error: unknown): StorageError {
  return new StorageError("unavailable", `Cannot ${action}: ${reason(error)}`, {
    cause: error,
  });
}

/**
 * The fault of a statement that changes nothing, or has not: `unavailable`. An error that is not
 * about the state of the server is returned as it is.
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

/** A server that was reached, and takes no writes. In the midst of a switchover none does. */
export class ReadOnlyServer extends Error {
  /** Makes the error. */
  constructor() {
    super("The server only reads");
  }
}

/** Tells whether a server that could not be used may be there for it a moment later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ReadOnlyServer) return true;
  if (error instanceof AggregateError) return error.errors.some(isPassing);
  const state = sqlState(error);
  if (state !== undefined) {
    return /^(?:08|53|57P)/.test(state) && !IS_POOLER.test(error.message);
  }
  if ("code" in error) return PASSING.has(String(error.code));
  return WORDS.some(([pattern]) => pattern.test(error.message));
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = sqlState(error);
  const words = code === undefined ? undefined : REASONS.get(code);
  if (words !== undefined) return `${words} (${error.message})`;
  // Where a name has several addresses there is one error for each, and no message.
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(reason).join("; ");
  }
  const { message } = error;
  return WORDS.find(([pattern]) => pattern.test(message))?.[1] ?? message;
}

/** The code of an error that the server sent. */
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

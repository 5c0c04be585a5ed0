/** What databases share: they store pets and issued API keys, and refuse in the same words. */

import {
  type ApiKeyStorage,
  type PetStorage,
  StorageError,
} from "../../core/storage.ts";

/** A {@linkcode PetStorage} that also stores the records of issued API keys. */
export interface PetDatabase extends PetStorage {
  /** The records of issued API keys, kept where the pets are. */
  readonly apiKeys: ApiKeyStorage;
  /**
   * Resolves to the reason if the storage has saved everything and closed itself, because only a
   * new process can go on.
   */
  readonly ended?: Promise<string>;
}

/** How long an idempotency key is kept by default, in ms: 24 hours. */
export const DEFAULT_RETENTION = 86_400_000;

/** The reason to refuse a database that is only read and has no tables. */
export const NO_TABLES =
  "it lacks the tables of this program, which a server makes when it starts; nothing was changed";

/** A column of integers that a release added to a table. It may be NULL. */
export interface AddedColumn {
  readonly table: string;
  readonly column: string;
}

/**
 * What releases have added to the tables of version 1, oldest first. Whoever opens a database for
 * writing adds what is missing; earlier releases ignore it. A change of any other kind must raise
 * the version instead.
 */
export const ADDED_COLUMNS: readonly AddedColumn[] = [
  { table: "api_keys", column: "expires" },
  { table: "api_keys", column: "last_used" },
];

/** Makes the statement that adds a column; `type` is the database's for 64-bit integers. */
export function addColumn(
  { table, column }: AddedColumn,
  type: string,
): string {
  return `ALTER TABLE ${table} ADD COLUMN ${column} ${type}`;
}

/** The reason to refuse a database that lacks columns. */
export function lacksColumns(missing: readonly AddedColumn[]): string {
  const names = missing.map(({ table, column }) => `${table}.${column}`);
  return `it lacks the columns ${names.join(" and ")} of this release`;
}

/** Who adds them, for a database that is only read. */
export const ADDS_COLUMNS =
  "which a server adds when it starts, and the command keys; nothing was changed";

/** Counts of connections to a database. It is here so that only PostgreSQL needs types of `pg`. */
export interface PoolCounts {
  readonly open: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
  /**
   * How often a connection became useless since the start: the server ended it, even if idle, or no
   * longer answered, or became read-only; or an `ALTER TABLE` spoiled its prepared statements.
   */
  readonly lost: number;
  /** How often two hosts of the address were found to accept writes. */
  readonly splitBrains: number;
}

/** @throws {Error} if this program does not know the version of the tables. */
export function assertVersion(version: number, known: number): void {
  if (version === known) return;
  const rest = version > known
    ? `but this release supports only version ${known}. Nothing was changed. Start the newer release, or restore a backup from before the upgrade`
    : `and this program knows version ${known}; use the version of the program that made them`;
  throw new Error(`its tables are version ${version}, ${rest}`);
}

/**
 * Makes the error of an action, for example `get pet`. If it is `unavailable`, nothing happened.
 */
export function storageError(
  kind: StorageError["kind"],
  action: string,
  reason: string,
  cause?: unknown,
): StorageError {
  const problem = kind === "unavailable"
    ? `Cannot ${action}`
    : `Outcome unknown (${action})`;
  return new StorageError(kind, `${problem}: ${reason}`, { cause });
}

/** Makes the error of a closed storage. */
export function closedError(action: string): StorageError {
  return storageError("unavailable", action, "the storage is closed");
}

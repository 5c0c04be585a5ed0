/** The tables that are copied from one database to another, and a database as the copy sees it. */

import { PET_COLUMNS } from "./stored_row.ts";

/** A table; its first column is the key by which rows are read. */
export interface Table {
  readonly name: string;
  /** For messages. */
  readonly plural: string;
  readonly columns: readonly string[];
  /** Says what to do if the table already has a row with the same key. */
  readonly onConflict: string;
}

/** Pets never change. */
export const PETS: Table = {
  name: "pets",
  plural: "pets",
  columns: PET_COLUMNS.split(", "),
  onConflict: "DO NOTHING",
};

/** The only change to an API key is that it is revoked. */
export const API_KEYS: Table = {
  name: "api_keys",
  plural: "API keys",
  columns: ["id", "name", "digest", "created", "revoked"],
  onConflict: `DO UPDATE SET revoked = excluded.revoked
    WHERE api_keys.digest = excluded.digest AND api_keys.revoked IS NULL`,
};

export const IDEMPOTENCY_KEYS: Table = {
  name: "idempotency_keys",
  plural: "idempotency keys",
  columns: ["key", "pet_id", "created"],
  onConflict:
    "DO UPDATE SET pet_id = excluded.pet_id, created = excluded.created",
};

/** A value in a row. An integer is a `bigint` or a small `number`. */
export type Value = string | bigint | number | null;

/** Runs SQL in which each `?` stands for a value. Rejects with a `StorageError`. */
export type Query = (
  table: Table,
  sql: string,
  values?: readonly Value[],
) => Promise<readonly (readonly unknown[])[]>;

/** A database, opened to copy all of it. */
export interface Transfer {
  /** Identifies the database, whatever its address. */
  readonly identity: string;
  readonly read: Query;
  /** Changes a table in a transaction of its own, while nobody else adds to the table. */
  readonly write: Query;
  /** The SQL that reads a column; text may come as bytes, which may not be UTF-8. */
  select(column: string): string;
  /** The SQL that reads the greatest id that a table gave; 0 if it never gave any. */
  selectLastGiven(table: Table): string;
  /** Makes ids that a table gives from now on greater than `id`, and than all given before. */
  continueAfter(table: Table, id: bigint): Promise<void>;
  close(): Promise<void>;
}

/** A database that is only read must have its tables; otherwise they are created. */
export type Access = "read" | "write";

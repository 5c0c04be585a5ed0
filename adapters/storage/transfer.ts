/** The tables to copy from one database to another, and what the copy needs from a database. */

/** A table. Rows are read in the order of its first column, which is its key. */
export interface Table {
  readonly name: string;
  /** The name of its rows in messages. */
  readonly plural: string;
  readonly columns: readonly string[];
  /** What to do if the table already has a row with the same key. */
  readonly onConflict: string;
}

/** Pets never change. */
export const PETS: Table = {
  name: "pets",
  plural: "pets",
  columns: ["id", "name", "category_id", "status"],
  onConflict: "DO NOTHING",
};

/** An API key changes only by being revoked or used. */
export const API_KEYS: Table = {
  name: "api_keys",
  plural: "API keys",
  columns: [
    "id",
    "name",
    "digest",
    "created",
    "revoked",
    "expires",
    "last_used",
  ],
  onConflict:
    `DO UPDATE SET revoked = coalesce(api_keys.revoked, excluded.revoked),
      last_used = CASE WHEN excluded.last_used > coalesce(api_keys.last_used, 0)
        THEN excluded.last_used ELSE api_keys.last_used END
    WHERE api_keys.digest = excluded.digest`,
};

export const IDEMPOTENCY_KEYS: Table = {
  name: "idempotency_keys",
  plural: "idempotency keys",
  columns: ["key", "pet_id", "created"],
  onConflict:
    "DO UPDATE SET pet_id = excluded.pet_id, created = excluded.created",
};

/** A value in a row. Integers are `bigint`, or `number` if they are small. */
export type Value = string | bigint | number | null;

/** Runs SQL with a `?` for each value. Rejects with a `StorageError`. */
export type Query = (
  table: Table,
  sql: string,
  values?: readonly Value[],
) => Promise<readonly (readonly unknown[])[]>;

/** A database that is open to be copied. */
export interface Transfer {
  /** The same for every address of the same database. */
  readonly identity: string;
  readonly read: Query;
  /** Changes a table in its own transaction, while nobody else can add rows to it. */
  readonly write: Query;
  /** Returns SQL that reads a column, perhaps as bytes: stored text may be invalid UTF-8. */
  select(column: string): string;
  /** SQL that reads the members of its parameter, a JSON object, as columns `key` and `value`. */
  readonly jsonMembers: string;
  /** Returns SQL that reads the highest id that a table ever assigned, or 0. */
  selectLastGiven(table: Table): string;
  /** Makes the table assign only ids above `id`, and above all that it has assigned. */
  continueAfter(table: Table, id: bigint): Promise<void>;
  close(): Promise<void>;
}

/** How to open a database. Missing tables are created for `write`, and an error for `read`. */
export type Access = "read" | "write";

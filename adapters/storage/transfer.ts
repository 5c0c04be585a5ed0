/** The tables to copy from one database to another, and what the copy needs from each. */

/** A table. Rows are read in the order of its first column, which is its key. */
export interface Table {
  readonly name: string;
  /** The name of its rows in messages. */
  readonly plural: string;
  readonly columns: readonly string[];
  /** The columns that may change while FROM is copied, besides the days on which keys are used. */
  readonly changing?: readonly string[];
  /** True if the database gives ids, which must not be given again. */
  readonly hasIds: boolean;
}

/** Pets never change. */
export const PETS: Table = {
  name: "pets",
  plural: "pets",
  columns: ["id", "name", "category_id", "status"],
  hasIds: true,
};

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
  changing: ["revoked"],
  hasIds: true,
};

export const IDEMPOTENCY_KEYS: Table = {
  name: "idempotency_keys",
  plural: "idempotency keys",
  columns: ["key", "pet_id", "created"],
  changing: ["pet_id"], // if it has expired, and is sent again
  hasIds: false,
};

/** Counts the rows of all tables. */
export const COUNT_ALL: string = `SELECT ${
  [PETS, API_KEYS, IDEMPOTENCY_KEYS].map(({ name }) =>
    `(SELECT count(*) FROM ${name})`
  ).join(" + ")
}`;

/** The reason not to copy to a database that has rows. */
export const NOT_EMPTY =
  "Cannot copy: TO already has pets or keys. Name an empty database";

/** A value in a row. Integers are `bigint`, or `number` if they are small. */
export type Value = string | bigint | number | null;

/** Runs SQL with a `?` for each value. `action` names it in messages. */
export type Query = (
  action: string,
  sql: string,
  values?: readonly Value[],
) => Promise<readonly (readonly unknown[])[]>;

/** A database to copy from. */
export interface Source {
  /** Runs `work`, whose queries all see the database as it is now. */
  snapshot<T>(work: (read: Query) => Promise<T>): Promise<T>;
  /** Returns SQL that reads a column, perhaps as bytes: stored text may be invalid UTF-8. */
  select(column: string): string;
  /** Returns SQL that reads the highest id that a table ever assigned, or 0. */
  selectLastGiven(table: Table): string;
  close(): Promise<void>;
}

/** An empty database to copy to. */
export interface Target {
  /**
   * Runs `work`, which fills the database. Others see all that it writes when this resolves, and
   * none of it if `work` fails or the process ends. If the connection is lost in time, `work` may
   * be run again from the beginning.
   *
   * @throws {Error} if the database is not empty.
   */
  fill<T>(work: (write: Query) => Promise<T>): Promise<T>;
  /** SQL that reads the members of its parameter, a JSON object, as columns `key` and `value`. */
  readonly jsonMembers: string;
  /** Makes a table that was filled assign only ids above `id`. */
  continueAfter(write: Query, table: Table, id: bigint): Promise<void>;
  close(): Promise<void>;
}

/** How to open a database. What is missing is created for `write`, and an error for `read`. */
export type Access = "read" | "write";

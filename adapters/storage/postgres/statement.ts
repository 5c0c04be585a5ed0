/** SQL statements, and the rows that they return. */

import { hash } from "node:crypto";

/** A statement, with settings of the driver. */
export interface Statement {
  /** If it has a name, the server prepares it once per connection. */
  readonly name?: string;
  readonly text: string;
  readonly rowMode: "array";
}

export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Makes a statement that is parsed each time. */
export function plain(text: string): Statement {
  return { text, rowMode: "array" };
}

/** Makes a prepared statement, for SQL that is sent often. */
export function prepared(text: string): Statement {
  return { name: `petstore ${hash("sha1", text)}`, ...plain(text) };
}

/** Makes a statement from SQL that has a `?` for each value. */
export function numbered(sql: string): Statement {
  let place = 0;
  return plain(sql.replaceAll("?", () => `$${++place}`));
}

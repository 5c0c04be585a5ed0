/** SQL statements, and the rows that they return. */

import { hash } from "node:crypto";

/** A statement. If it has a name, the server prepares it once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  /** True if changes may be committed even though its result is lost. Default: false. */
  readonly commits?: boolean;
}

export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Makes a prepared statement, for SQL that is sent often. */
export function prepared(text: string): Statement {
  return { name: `petstore ${hash("sha1", text)}`, text };
}

/** Makes a statement from SQL that has a `?` for each value. */
export function numbered(sql: string): Statement {
  let place = 0;
  return { text: sql.replaceAll("?", () => `$${++place}`) };
}

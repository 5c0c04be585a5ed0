/** SQL statements, and the rows that they return. */

import { hash } from "node:crypto";

/** SQL that is parsed each time, with a `?` for each value, or a prepared statement. */
export type Statement = string | Prepared;

/** A statement that the server prepares once per connection, with settings of the driver. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly rowMode: "array";
}

export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Makes a prepared statement, for SQL that is sent often; its values are `$1`, `$2` and so on. */
export function prepared(text: string): Prepared {
  return { name: `petstore ${hash("sha1", text)}`, text, rowMode: "array" };
}

/** Numbers the values of SQL, as PostgreSQL wants them. */
export function numbered(sql: string): string {
  let place = 0;
  return sql.replaceAll("?", () => `$${++place}`);
}

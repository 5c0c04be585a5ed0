/** Statements, and the rows that they return. */

import { hash } from "node:crypto";

/** A statement. With a name the server prepares it once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Makes a statement to be prepared, for what is sent often. */
export function prepared(text: string): Statement {
  return { name: `petstore ${hash("sha1", text)}`, text };
}

/** Makes a statement of SQL in which each `?` stands for a value. */
export function numbered(sql: string): Statement {
  let place = 0;
  return { text: sql.replaceAll("?", () => `$${++place}`) };
}

/** An SQLite file whose tables are copied. */

import type { Access, Transfer, Value } from "../transfer.ts";
import { openSqliteFile } from "./open.ts";
import { identify } from "./files.ts";

/** How long to wait for other processes that lock the file, in ms. */
const LOCK_TIMEOUT = 30_000;

/** @throws {StorageError} `unavailable` if the file cannot be used; the message says why. */
export async function sqliteTransfer(
  path: string,
  access: Access,
): Promise<Transfer> {
  const file = await openSqliteFile(path, LOCK_TIMEOUT, access);
  const run = (sql: string, values: readonly Value[] = []) =>
    file.prepare(sql).all(...values) as unknown as readonly unknown[][];
  return {
    identity: `file ${identify(path)}`,

    read: ({ plural }, ...query) =>
      file.read(`read ${plural}`, () => run(...query)),

    write: ({ plural }, ...query) =>
      file.write(`copy ${plural}`, () => run(...query)),

    // As bytes, because a string might be incomplete: SQLite does not check text (its document
    // Invalid UTF Policy), and Deno 2.9 cuts it at a NUL (`column_value` in its
    // ext/node_sqlite/statement.rs).
    select: (column) =>
      `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END`,

    jsonMembers: "json_each(?)",

    selectLastGiven: ({ name }) =>
      `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '${name}'`,

    continueAfter: ({ name, plural }, id) =>
      file.write(`continue the ids of ${plural}`, () => {
        // A table has no row in sqlite_sequence before its first insert.
        const insert = `INSERT INTO sqlite_sequence SELECT ?, ?
          WHERE NOT EXISTS (SELECT * FROM sqlite_sequence WHERE name = ?)`;
        run(insert, [name, id, name]);
        const raise =
          "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?";
        run(raise, [id, name]);
      }),

    close: () => file.close(),
  };
}

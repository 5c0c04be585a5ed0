/**
 * `sqliteStorage` beside a bare loop of `node:sqlite` with the same SQL.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sqliteStorage } from "../../../../adapters/sqlite/mod.ts";
import { serveTasks } from "../../reply.ts";
import { COLUMNS, comparisons, fill, readRow } from "./bare.ts";
import { compareAll, type CompareOptions } from "./compare.ts";

const READS = (target: number) => ({ 1: target, 64: target });
const TARGETS = {
  get: READS(0.9),
  list20: READS(0.8),
  list100: READS(0.65),
  create: { 1: 0.8, 64: 15 },
};
const CODES = { available: 0, pending: 1, sold: 2 };

await serveTasks(async ({ address, ...options }: CompareOptions & {
  readonly address: string;
}) => {
  // Filled alike and opened anew: SQLite reads a file faster once something was written to it.
  const [path, barePath] = [`${address}/ours.db`, `${address}/bare.db`];
  for (const each of [path, barePath]) {
    const storage = await sqliteStorage(each);
    await fill(storage);
    await storage.close();
  }
  const storage = await sqliteStorage(path);
  const db = new DatabaseSync(barePath);
  db.exec("PRAGMA synchronous = FULL");
  /** Prepared once, int64 as bigint, rows as arrays: as ours has it. */
  function prepare(sql: string): StatementSync {
    // Deno 2.9 has the second method, and no type for it yet.
    const statement: StatementSync & { setReturnArrays?(on: boolean): void } =
      db.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    return statement;
  }
  const byId = prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
  const page = prepare(
    `SELECT ${COLUMNS} FROM pets WHERE status = 1 AND id > ? ORDER BY id LIMIT ?`,
  );
  const insert = prepare(
    "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)",
  );
  const rows = await compareAll(
    comparisons(storage, {
      get: (id) => readRow(byId.get(id)),
      list: (after, limit) => page.all(after, limit).map(readRow),
      create: ({ name, categoryId, status }) =>
        insert.run(name, categoryId, CODES[status]),
    }, TARGETS),
    options,
  );
  db.close();
  await storage.close();
  return rows;
});

/**
 * `postgresStorage` beside a bare loop of `pg` with the same SQL; creates are single inserts.
 *
 * @module
 */

import pg from "pg";
import { postgresStorage } from "../../../../adapters/postgres/mod.ts";
import { serveTasks } from "../../reply.ts";
import { COLUMNS, comparisons, fill, readRow } from "./bare.ts";
import { compareAll, type CompareOptions } from "./compare.ts";

const READS = { 16: 0.75, 64: 0.75 };
const TARGETS = {
  get: READS,
  list20: READS,
  list100: READS,
  create: { 64: 5 },
};
const CODES = { available: 0, pending: 1, sold: 2 };

await serveTasks(async ({ address, ...options }: CompareOptions & {
  readonly address: string;
}) => {
  const storage = await postgresStorage(address);
  await fill(storage);
  const pool = new pg.Pool({
    connectionString: address,
    max: 10, // as ours has
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === 20 ? BigInt : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  /** Sends a statement that is prepared once for each connection. */
  async function query(name: string, text: string, ...values: unknown[]) {
    const { rows } = await pool.query(
      { name, text, values, rowMode: "array" },
    );
    return rows.map(readRow);
  }
  const rows = await compareAll(
    comparisons(storage, {
      get: (id) =>
        query("get", `SELECT ${COLUMNS} FROM pets WHERE id = $1`, id),
      list: (after, limit) =>
        query(
          "list",
          `SELECT ${COLUMNS} FROM pets WHERE status = 1 AND id > $1 ORDER BY id LIMIT $2`,
          after,
          limit,
        ),
      create: ({ name, categoryId, status }) =>
        query(
          "create",
          `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
          name,
          categoryId,
          CODES[status],
        ),
    }, TARGETS),
    options,
  );
  await pool.end();
  await storage.close();
  return rows;
});

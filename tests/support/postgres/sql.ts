/** One statement on a connection of its own. */

import { Client } from "pg";

/** A row, by names of columns. */
export type Row = Readonly<Record<string, unknown>>;

/** Connects, within 10 s, runs one statement, and disconnects. */
export async function runSql(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
  });
  // What ends the connection rejects the query as well.
  client.on("error", () => {});
  try {
    await client.connect();
    // Without values, several statements in one text are allowed.
    const { rows } = values.length === 0
      ? await client.query(sql)
      : await client.query(sql, [...values]);
    return rows ?? [];
  } finally {
    await client.end();
  }
}

/**
 * A PostgreSQL to measure: that of the tests. An npm package's, that of `TEST_POSTGRES_BIN`, or a new
 * database on the server at `TEST_DATABASE_URL`.
 *
 * @module
 */

import process from "node:process";
import { startCluster } from "../tests/postgres/cluster.ts";
import { createDatabase, dropDatabase } from "../tests/postgres/database.ts";

/** Does work on a new and empty database, which is gone afterwards. */
export async function inNewDatabase<T>(
  work: (url: string) => Promise<T>,
): Promise<T> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined) {
    const url = await createDatabase(given);
    return await work(url).finally(() => dropDatabase(url, given));
  }
  const cluster = await startCluster();
  try {
    return await work(await cluster.newDatabase());
  } finally {
    await cluster.close();
  }
}

/**
 * A PostgreSQL to measure: that of the tests. An npm package's, that of `TEST_POSTGRES_BIN`, or a new
 * database on the server at `TEST_DATABASE_URL`.
 *
 * @module
 */

import process from "node:process";
import { startCluster } from "../support/postgres/cluster.ts";
import { createDatabase, dropDatabase } from "../support/postgres/database.ts";

/** Does work with a maker of new and empty databases, which are all gone afterwards. */
export async function withNewDatabases<T>(
  work: (newDatabase: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const given = process.env.TEST_DATABASE_URL;
  if (given === undefined) {
    const cluster = await startCluster();
    return await work(() => cluster.newDatabase()).finally(() =>
      cluster.close()
    );
  }
  const urls: string[] = [];
  async function newDatabase(server: string): Promise<string> {
    const url = await createDatabase(server);
    urls.push(url);
    return url;
  }
  try {
    return await work(() => newDatabase(given));
  } finally {
    for (const url of urls) await dropDatabase(url, given);
  }
}

/** Databases for the tests that need no server of their own. */

import { after } from "node:test";
import process from "node:process";
import { skipping } from "../skipping.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { createDatabase, dropDatabase, runSql } from "./sql.ts";

/** A server that the tests of a file share. */
export interface SharedPostgres {
  /** `false`, or why the tests that need PostgreSQL are skipped. */
  readonly skip: string | false;
  /** The URL of a new and empty database, in UTF-8; it is gone when the tests of the file are over. */
  readonly newDatabase: () => Promise<string>;
  /**
   * Empties one database, and gives its URL: for tests that have closed what they opened in it before.
   * PostgreSQL takes much longer to make a new one.
   */
  readonly emptyDatabase: () => Promise<string>;
}

/**
 * Databases on the server that `TEST_DATABASE_URL` names, or else on one that is started at the first
 * use and ends when the tests of the file are over. Asked for at the top of a test file.
 */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const server = process.env.TEST_DATABASE_URL;
  const shared = server === undefined ? await ownServer() : givenServer(server);
  let one: Promise<string> | undefined;
  return {
    ...shared,
    async emptyDatabase() {
      const url = await (one ??= shared.newDatabase());
      await runSql(url, "drop schema public cascade; create schema public");
      return url;
    },
  };
}

type Server = Omit<SharedPostgres, "emptyDatabase">;

async function ownServer(): Promise<Server> {
  const { missing } = await findBinaries();
  const skip = skipping(missing);
  let cluster: Promise<Cluster> | undefined;
  after(async () => await (await cluster)?.close());
  return {
    skip,
    async newDatabase() {
      // No test of these looks at a database after a crash.
      const settings = { fsync: "off", full_page_writes: "off" };
      cluster ??= startCluster({ settings });
      return await (await cluster).newDatabase();
    },
  };
}

function givenServer(server: string): Server {
  const created: string[] = [];
  after(() => Promise.all(created.map((url) => dropDatabase(url, server))));
  return {
    skip: false,
    async newDatabase() {
      const url = await createDatabase(server);
      created.push(url);
      return url;
    },
  };
}

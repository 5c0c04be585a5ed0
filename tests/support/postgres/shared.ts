/** Databases for the tests that do not need their own server. */

import process from "node:process";
import { after, type test, type TestContext } from "node:test";
import {
  type PetDatabase,
  postgresStorage,
} from "../../../adapters/storage/postgres/mod.ts";
import { atEnd } from "../at_end.ts";
import { skipping, testUnless } from "../runtime.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { createDatabase, dropDatabase, runSql } from "./sql.ts";

/** A server that the tests of a file share. */
export interface SharedPostgres {
  /** `false`, or why the tests that need PostgreSQL are skipped. */
  readonly skip: string | false;
  /**
   * Empties one database, in UTF-8, and returns its URL, for tests that have closed what they
   * opened in it before. It is removed when the tests of the file are over.
   */
  readonly emptyDatabase: () => Promise<string>;
  /** `test` of `node:test`, or `test.skip`. */
  readonly it: typeof test.skip;
  /** Empties one database for a test, and opens storages there, which are closed at its end. */
  readonly database: (t: TestContext) => Promise<{
    readonly url: string;
    readonly open: typeof postgresStorage;
  }>;
}

/**
 * Databases on the server that `TEST_DATABASE_URL` names, or else on one that is started at the first
 * use and ends when the tests of the file are over. Asked for at the top of a test file.
 */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const server = process.env.TEST_DATABASE_URL;
  const skip = server === undefined &&
    skipping((await findBinaries()).missing);
  let cluster: Promise<Cluster> | undefined;
  let one: Promise<string> | undefined;
  after(async () => {
    if (server && one) await dropDatabase(await one, server);
    await (await cluster)?.close();
  });

  async function newDatabase(): Promise<string> {
    if (server !== undefined) return await createDatabase(server);
    // None of these tests looks at a database after a crash.
    const settings = { fsync: "off", full_page_writes: "off" };
    cluster = startCluster({ settings });
    return await (await cluster).newDatabase();
  }

  async function emptyDatabase(): Promise<string> {
    const url = await (one ??= newDatabase());
    await runSql(url, "drop schema public cascade; create schema public");
    return url;
  }

  const database: SharedPostgres["database"] = async (t) => {
    const opened: PetDatabase[] = [];
    atEnd(t, () => Promise.all(opened.map((storage) => storage.close())));
    return {
      url: await emptyDatabase(),
      async open(...args) {
        const storage = await postgresStorage(...args);
        opened.push(storage);
        return storage;
      },
    };
  };

  return { skip, emptyDatabase, it: testUnless(skip), database };
}

/** Databases for the tests that do not need their own server. */

import process from "node:process";
import { after, type TestContext, type TestOptions } from "node:test";
import type { Client } from "pg";
import {
  type PetDatabase,
  postgresStorage,
  type PostgresStorageOptions,
} from "../../../adapters/storage/postgres/mod.ts";
import { atEnd } from "../at_end.ts";
import { skipping, testUnless } from "../runtime.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, FAST, startCluster } from "./cluster.ts";
import { connect, createDatabase, type Row, runSql } from "./sql.ts";

/** Time limits that no busy machine exceeds, in ms, for tests of something else. */
export const PATIENT = {
  connectTimeout: 60_000,
  queryTimeout: 60_000,
  openTimeout: 60_000,
};

/** A server that the tests of a file share. */
export interface SharedPostgres {
  /** `false`, or why the tests that need PostgreSQL are skipped. */
  readonly skip: string | false;
  /**
   * Empties one database, in UTF-8, and returns its URL, for tests that have closed what they
   * opened in it before. It is removed when the tests of the file are over.
   */
  readonly emptyDatabase: () => Promise<string>;
  /** Registers a test on that database, or skips it. */
  readonly onDatabase: {
    readonly test: (
      title: string,
      check: (database: Database) => Promise<void>,
      options?: TestOptions,
    ) => void;
  };
}

/** The database of a test. What is opened is closed after the test. */
export interface Database {
  readonly t: TestContext;
  readonly url: string;
  /**
   * Opens a storage there, or at another address. Default of the time limits:
   * {@linkcode PATIENT}.
   */
  readonly open: (
    address?: string,
    options?: PostgresStorageOptions,
  ) => Promise<PetDatabase>;
  /** Runs SQL on a connection of its own, and returns the rows. */
  readonly sql: (text: string) => Promise<readonly Row[]>;
  /** Opens a connection, for a transaction that stays open. */
  readonly connect: () => Promise<Client>;
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
    if (server && one) {
      const name = new URL(await one).pathname.slice(1);
      await runSql(server, `drop database ${name} with (force)`);
    }
    await (await cluster)?.close();
  });

  async function newDatabase(): Promise<string> {
    if (server !== undefined) return await createDatabase(server);
    cluster = startCluster({ settings: FAST });
    return await (await cluster).newDatabase();
  }

  async function emptyDatabase(): Promise<string> {
    const url = await (one ??= newDatabase());
    await runSql(url, "drop schema public cascade; create schema public");
    return url;
  }

  const test: SharedPostgres["onDatabase"]["test"] = (
    title,
    check,
    options = {},
  ) =>
    // Bun runs nothing if the options are undefined.
    void testUnless(skip)(title, options, async (t) => {
      const url = await emptyDatabase();
      await check({
        t,
        url,
        async open(address = url, options = {}) {
          const storage = await postgresStorage(address, {
            ...PATIENT,
            ...options,
          });
          atEnd(t, () => storage.close());
          return storage;
        },
        sql: (text) => runSql(url, text),
        connect: () => connect(t, url),
      });
    });

  return { skip, emptyDatabase, onDatabase: { test } };
}

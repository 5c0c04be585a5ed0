/** Tests of `postgresStorage` on a server that they share. */

import { test } from "node:test";
import {
  type PetDatabase,
  postgresStorage,
} from "../../../adapters/postgres/mod.ts";
import { sharedPostgres } from "./shared.ts";

/** An empty database. */
export interface EmptyDatabase {
  readonly url: string;
  /** Opens a storage; it is closed at the end. */
  readonly open: typeof postgresStorage;
}

/** Registers a test of `postgresStorage`, which is given an empty database. */
export type TestDatabase = (
  what: string,
  check: (database: EmptyDatabase) => Promise<void>,
) => void;

/** To be called at the top of a test file. */
export async function testDatabase(): Promise<TestDatabase> {
  const { skip, emptyDatabase } = await sharedPostgres();
  return (what, check) =>
    void test(
      `postgresStorage ${what}`,
      { skip, timeout: 30_000 },
      async () => {
        const opened: PetDatabase[] = [];
        try {
          await check({
            url: await emptyDatabase(),
            async open(...args) {
              const storage = await postgresStorage(...args);
              opened.push(storage);
              return storage;
            },
          });
        } finally {
          await Promise.all(opened.map((storage) => storage.close()));
        }
      },
    );
}

/** Tests of `postgresStorage` on a server that they share. */

import { test } from "node:test";
import {
  type PetDatabase,
  postgresStorage,
} from "../../../adapters/postgres/mod.ts";
import { sharedPostgres } from "./shared.ts";

/** An empty database, and a storage's way to it: what is opened is closed at the end. */
interface Database {
  readonly url: string;
  readonly open: typeof postgresStorage;
}

/** Makes a function that registers a test; to be called at the top of a test file. */
export async function testDatabase(): Promise<
  (what: string, check: (database: Database) => Promise<void>) => void
> {
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

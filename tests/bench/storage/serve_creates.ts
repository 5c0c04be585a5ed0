/**
 * A server on SQLite for the measurement of group commit over HTTP: serves until it is ended, and says
 * on which port.
 *
 * @module
 */

import process from "node:process";
import { loadRuntime } from "../../../adapters/standalone/runtime.ts";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { apiKeys, createHandler } from "../../../mod.ts";
import { readTask } from "../in_runtime.ts";

/** What this program is given. */
export interface ServeCreatesTask {
  /** The SQLite file. */
  readonly path: string;
  /** The most creates that share a transaction. */
  readonly maxBatch: number;
}

async function main({ path, maxBatch }: ServeCreatesTask): Promise<void> {
  const { serve, Response } = await loadRuntime();
  const storage = await sqliteStorage(path, { maxBatch });
  const handle = createHandler({
    storage,
    keys: apiKeys(["secret"]),
    Response,
  });
  const { port } = await serve(handle, { port: 0 });
  console.log(port);
}

await main(readTask<ServeCreatesTask>(process.argv));

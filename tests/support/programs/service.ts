/**
 * Serves a fresh service for each line of options that it reads, until its input ends. `database` is the
 * path of a new SQLite file; without it pets are in memory.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";

const serve = await loadServe();
for await (const line of createInterface({ input: process.stdin })) {
  const { database, ...options } = JSON.parse(line);
  const storage = database === undefined
    ? memoryStorage()
    : await sqliteStorage(database);
  const keys = apiKeys(["secret"]);
  const handle = createHandler({ storage, keys, ...options });
  const { port } = await serve(handle, { port: 0 });
  console.log(JSON.stringify({ port }));
}
process.exit();

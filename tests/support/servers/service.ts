/** Serves a fresh service for each line of options that it reads, until its input ends. */

import process from "node:process";
import { createInterface } from "node:readline";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";

const serve = await loadServe();
for await (const line of createInterface({ input: process.stdin })) {
  const options = { storage: memoryStorage(), keys: apiKeys(["secret"]) };
  const handle = createHandler({ ...options, ...JSON.parse(line) });
  const { port } = await serve(handle, { port: 0 });
  console.log(JSON.stringify({ port }));
}
process.exit();

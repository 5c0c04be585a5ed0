/** Loads `serve.ts`, and is for it what Bun is: gives it a request and a `stop`, and then a signal. */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import server from "../../../adapters/standalone/serve.ts";

const stop = async (): Promise<void> => {
  await setTimeout(200);
  console.log("All is sent");
};
await server.fetch(new Request("http://localhost/livez"), { stop });
process.kill(process.pid, "SIGTERM");

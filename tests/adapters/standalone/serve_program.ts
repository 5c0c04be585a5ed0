/** Loads `serve.ts`, is for it what Bun and Deno are, a request each, and then sends a signal. */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import server from "../../../adapters/standalone/serve.ts";

console.log(JSON.stringify(server));
const stop = async (): Promise<void> => {
  const { status } = await server.fetch(new Request("http://localhost/"));
  console.log(`Bun stops, and more is answered ${status}`);
  await setTimeout(200);
  console.log("All is sent");
};
const completed = setTimeout(200).then(() => console.log("Deno has sent it"));
for (const info of [{ stop }, { completed }]) {
  await server.fetch(new Request("http://localhost/livez"), info);
}
process.kill(process.pid, "SIGTERM");

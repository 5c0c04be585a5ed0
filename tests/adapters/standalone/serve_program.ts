/** Loads `serve.ts`, is for it what Bun and Deno are, a request each, and then sends a signal. */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import server from "../../../adapters/standalone/serve.ts";

console.log(JSON.stringify(server));
const bun = {
  pendingRequests: 1,
  async stop(isLast?: boolean): Promise<void> {
    if (isLast) {
      setTimeout(20).then(() => console.log("the last bytes have left"));
      return console.log(`${this.pendingRequests} are in flight`);
    }
    const { status } = await server.fetch(new Request("http://localhost/"));
    console.log(`Bun stops, and more is answered ${status}`);
    await setTimeout(200);
    this.pendingRequests = 0;
  },
};
const completed = setTimeout(200).then(() => console.log("Deno has sent it"));
for (const info of [bun, { completed }]) {
  await server.fetch(new Request("http://localhost/livez"), info);
}
process.kill(process.pid, "SIGTERM");

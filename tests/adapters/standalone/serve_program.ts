/** Loads `serve.ts`, sends a request as `deno serve` does, and then a signal. */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import server from "../../../adapters/standalone/serve.ts";

const completed = setTimeout(200).then(() => {
  setTimeout(20).then(() => console.log("the last bytes have left"));
  console.log("Deno has sent it");
});
const request = new Request("http://localhost/livez");
const response = await server?.fetch(request, { completed });
console.log(response?.status);
process.kill(process.pid, "SIGTERM");

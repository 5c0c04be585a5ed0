/** Loads `serve.ts`, sends a request as `deno serve` does, and then a signal. */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import server from "../../../adapters/standalone/serve.ts";

const { promise, resolve } = Promise.withResolvers<void>();
const completed = promise.then(() => {
  setTimeout(20).then(() => console.log("the last bytes have left"));
  console.log("Deno has sent it");
});
const remoteAddr = { transport: "tcp", hostname: "::1", port: 1 } as const;
const info = { completed, remoteAddr };
const request = new Request("http://localhost/livez");
const response = await server?.fetch(request, info);
console.log(response?.status);
process.kill(process.pid, "SIGTERM");
setTimeout(200).then(resolve);

/**
 * Loads `serve.ts`, sends a request as `deno serve` does, and then a signal; with `--left` once it
 * ends because another worker left. With `--exits` standard error is read slowly, and another
 * worker ends the process as soon as it may.
 */

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
if (process.argv.includes("--left")) {
  const channel = new BroadcastChannel("petstore workers");
  channel.postMessage({ worker: "another", isLeaving: true });
  const ready = "http://localhost/readyz";
  const ask = () => server?.fetch(new Request(ready), info);
  while ((await ask())?.status === 200) await setTimeout(1);
  channel.close();
}
if (process.argv.includes("--exits")) {
  const { stderr } = Deno;
  const write = stderr.write.bind(stderr);
  stderr.write = (bytes) => setTimeout(500).then(() => write(bytes));
  const channel = new BroadcastChannel("petstore workers");
  channel.onmessage = ({ data }) => data.isLeaving && process.exit(0);
}
process.kill(process.pid, "SIGTERM");
setTimeout(200).then(resolve);

/**
 * Logs 100,000 requests (5000 are more than a pipe holds), says so on standard error, and ends when
 * its standard input does.
 */

import { once } from "node:events";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { logLayer } from "../../../adapters/layers/log.ts";
import { LOG } from "../../../adapters/standalone/log.ts";
import { flushOutput } from "../../../adapters/standalone/output.ts";

const answer = { status: 200, headers: {}, body: null };
const layer = logLayer(LOG);
const service = layer(async () => answer);
for (let index = 0; index < 100_000; index++) {
  if (index % 5000 === 4999) await setTimeout(20);
  const headers = new Headers({ "x-request-id": String(index) });
  const request = { method: "GET", url: "", headers };
  await service(request, undefined, () => Promise.reject());
}
process.stderr.write("All are logged\n");
await once(process.stdin.resume(), "end");
await flushOutput();
process.exit(0);

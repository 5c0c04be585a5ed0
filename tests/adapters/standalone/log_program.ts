/**
 * Logs 100,000 requests; 5000 are more than a pipe holds. Then says on standard error for how many ms, at most,
 * it was held up, and ends when its standard input does.
 */

import { once } from "node:events";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { createLog } from "../../../adapters/standalone/log.ts";
import { flushOutput } from "../../../adapters/standalone/output.ts";

const log = createLog({ requests: true });
let longest = 0;
for (let index = 0; index < 100_000; index++) {
  if (index % 5000 === 4999) {
    const start = performance.now();
    await setTimeout(20);
    longest = Math.max(longest, performance.now() - start);
  }
  log.request({ method: "GET", status: 200, ms: 1, id: String(index) });
}
process.stderr.write(`${longest}\n`);
await once(process.stdin.resume(), "end");
await flushOutput();
process.exit(0);

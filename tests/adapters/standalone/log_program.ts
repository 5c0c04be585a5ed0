/** Logs 5000 requests, more than a pipe holds, as often as told, and exits. Says how many bytes then wait. */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { createLog } from "../../../adapters/standalone/log.ts";

const log = createLog({ requests: true });
const [, , rounds = 1] = process.argv;
for (let index = 0; index < 5000 * Number(rounds); index++) {
  if (index % 5000 === 4999) await setTimeout(20);
  log.request({ method: "GET", status: 200, ms: 1, id: String(index) });
}
process.stderr.write(String(process.stdout.writableLength));
await log.flush();
process.exit(0);

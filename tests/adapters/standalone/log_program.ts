/** Logs 5000 requests, more than a pipe holds, and exits. */

import process from "node:process";
import { createLog } from "../../../adapters/standalone/log.ts";

const log = createLog({ requests: true });
for (let index = 0; index < 5000; index++) {
  log.request({ method: "GET", status: 200, ms: 1, id: String(index) });
}
await log.flush();
process.exit(0);

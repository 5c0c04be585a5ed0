/** The signals that end a server. */

import { readFileSync } from "node:fs";
import process from "node:process";

/** Calls `stop` with each SIGTERM, SIGINT or SIGHUP; on Bun under `nohup` not with SIGHUP. */
export function onStopSignal(stop: (signal: string) => void): void {
  for (
    const signal of ["SIGTERM", "SIGINT", ...takesHangUp() ? ["SIGHUP"] : []]
  ) {
    process.on(signal, () => stop(signal));
  }
  // Without a listener Node would open its debugger.
  if (!("Deno" in globalThis || "Bun" in globalThis)) {
    process.on("SIGUSR1", () => {});
  }
}

/**
 * Tells whether SIGHUP should end the server. On Bun it should not under `nohup`, which makes
 * processes ignore it, or if that is unknown. Without a listener Deno and Node would end even under
 * `nohup` (seen in Deno 2.9 and Node 26).
 */
function takesHangUp(): boolean {
  if (!("Bun" in globalThis)) return true;
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const [, ignored = "1"] = /^SigIgn:\s*[0-9a-f]*([0-9a-f])$/m.exec(status) ??
      [];
    return parseInt(ignored, 16) % 2 === 0; // SIGHUP is signal 1
  } catch {
    return false;
  }
}

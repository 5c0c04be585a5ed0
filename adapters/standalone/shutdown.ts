/** Shuts the standalone server down. */

import { readFileSync } from "node:fs";
import process from "node:process";
import { reportAndExit } from "./command_line.ts";
import { flushOutput, standardError } from "./output.ts";

/**
 * On the first SIGTERM, SIGINT or SIGHUP finishes, closes and exits with 0. If finishing takes too
 * long, closes anyway. On the second signal exits at once with 1. Call it before anything is
 * opened, so that a signal at any time ends the server in order.
 */
export function stopOnSignal(ending: {
  /** Announces that the server will end, and waits for others to notice. Not called for SIGINT. */
  announce(): Promise<void>;
  /** Stops accepting requests, and waits for those in flight. */
  finish(): Promise<void>;
  close(): Promise<void>;
  /** How long `finish` may take, in ms. */
  readonly timeout: number;
}) {
  const { timeout } = ending;
  let isStopping = false;

  async function end(signal?: string): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    if (signal !== "SIGINT") await ending.announce();
    const late = new Promise((resolve) => setTimeout(resolve, timeout, "late"));
    try {
      if (await Promise.race([ending.finish(), late]) === "late") {
        standardError.write(
          `Some requests did not finish within ${timeout} ms\n`,
        );
      }
    } finally {
      await ending.close();
    }
    await flushOutput();
    process.exit(0);
  }

  for (
    const signal of ["SIGTERM", "SIGINT", ...takesHangUp() ? ["SIGHUP"] : []]
  ) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      standardError.write(
        `${signal}: finishing the requests in flight; send it again to exit at once\n`,
      );
      end(signal).catch(reportAndExit);
    });
  }
  // Without a listener Node would open its debugger.
  if (!("Deno" in globalThis || "Bun" in globalThis)) {
    process.on("SIGUSR1", () => {});
  }
  return {
    /** Does what the first signal does; may be called more than once. */
    stop: () => void end().catch(reportAndExit),
    get isStopping() {
      return isStopping;
    },
  };
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

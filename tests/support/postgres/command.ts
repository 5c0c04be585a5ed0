/** Runs a command to its end. */

import { spawn } from "node:child_process";

/** How a command ended. */
export interface Ended {
  /** Its exit code; `null` where a signal ended it, or it could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  /** What it wrote there, or why it could not be started. */
  readonly stderr: string;
}

/** Runs a command with nothing to read; it is killed after `timeout` ms (by default, a minute). */
export function run(
  [command = "", ...args]: readonly string[],
  timeout = 60_000,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
    child.on(
      "error",
      (error) => resolve({ code: null, stdout, stderr: error.message }),
    );
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a command that has to succeed, and returns what it wrote; rejects with what it complained of. */
export async function runWell(command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  if (code !== 0) {
    throw new Error(`Cannot run ${command.join(" ")}: ${stderr}${stdout}`);
  }
  return stdout;
}

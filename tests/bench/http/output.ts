/**
 * Runs a program to its end and takes what it writes.
 *
 * @module
 */

import { once } from "node:events";
import { startProcess } from "./server.ts";

/** How long a program may run. */
export interface OutputOptions {
  /** It is killed after so many seconds, and that is an error. */
  readonly seconds: number;
  /** It is sent SIGINT after so many seconds. */
  readonly interruptAfter?: number | undefined;
}

/**
 * What a program writes to standard output.
 *
 * @throws {Error} where it fails, or does not end.
 */
export async function outputOf(
  command: string,
  args: readonly string[],
  { seconds, interruptAfter }: OutputOptions,
): Promise<string> {
  const child = startProcess(command, args);
  let output = "";
  let complaints = "";
  child.stdout?.on("data", (text) => output += text);
  child.stderr?.on("data", (text) => complaints += text);
  const interruption = interruptAfter === undefined
    ? undefined
    : setTimeout(() => child.kill("SIGINT"), interruptAfter * 1000);
  const limit = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
  const [code, signal] = await once(child, "close");
  clearTimeout(interruption);
  clearTimeout(limit);
  const wasToldTo = interruptAfter !== undefined && signal === "SIGINT";
  if (code === 0 || wasToldTo) return output;
  throw new Error(
    `${command} failed (${
      signal ?? `exit code ${code}`
    }):\n${output}${complaints}`,
  );
}

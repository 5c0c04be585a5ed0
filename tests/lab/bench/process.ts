/**
 * The processes of the bench: started, asked, ended.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { MARK } from "./reply.ts";
import { commandLine, type FoundRuntime } from "../../support/runtime.ts";

/** A program that is running. */
export interface Process {
  /** Writes a task to the program and waits for its reply. */
  ask(task: unknown): Promise<unknown>;
  /** Rejected when the program ends, with what it wrote to standard error. */
  readonly fault: Promise<never>;
  /** How many bytes it wrote to standard output. */
  written(): number;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

/** Starts a program on a runtime. What it writes to standard output is counted and thrown away. */
export function startProcess(
  runtime: FoundRuntime,
  file: URL,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Process {
  const { name, missing } = runtime;
  if (missing !== undefined) throw new Error(missing);
  const path = fileURLToPath(file);
  const [command = "", ...words] = commandLine(path, ["-A"], runtime);
  const child = spawn(command, [...words, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  running.add(child);
  child.stdin.on("error", () => {}); // the end of the program is reported below
  let written = 0;
  child.stdout.on("data", (chunk) => written += chunk.length);
  let complaints = "";
  let onReply: ((value: unknown) => void) | undefined;
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line.startsWith(MARK)) onReply?.(JSON.parse(line.slice(MARK.length)));
    else complaints += `${line}\n`;
  });
  const ended = once(child, "close").then(() => running.delete(child));
  const fault = ended.then(() => {
    throw new Error(`${path} on ${name} ended:\n${complaints}`);
  });
  fault.catch(() => {}); // it is reported to whoever waits
  async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
    return await work.finally(() => clearTimeout(timer));
  }
  return {
    fault,
    written: () => written,
    async ask(task) {
      const reply = new Promise((resolve) => onReply = resolve);
      child.stdin.write(`${JSON.stringify(task)}\n`);
      return await within(1200, Promise.race([reply, fault]));
    },
    async stop(signal = "SIGKILL") {
      child.kill(signal);
      await within(5, ended);
    },
  };
}

/**
 * The processes of the bench: started, asked, ended.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { MARK } from "./reply.ts";
import { programArgs, type Runtime } from "./runtimes.ts";

/** How a program is started. */
export interface StartOptions {
  /** Whether the program collects garbage. */
  readonly collects?: boolean;
  readonly args?: readonly string[];
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that is running. */
export interface Process {
  /**
   * Writes a line to the program and waits for its next reply.
   *
   * @param seconds the program may take; then it is killed, which is an error.
   */
  ask(line: string, seconds?: number): Promise<unknown>;
  /** Rejected when the program ends, with what it wrote to standard error. */
  readonly fault: Promise<never>;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on("exit", endAll);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(130));
}

function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts a program on a runtime. What it writes to standard output is thrown away. */
export function startProcess(
  runtime: Runtime,
  file: URL,
  { args = [], env = {}, collects = false }: StartOptions = {},
): Process {
  const path = fileURLToPath(file);
  const child = spawn(
    runtime.command,
    [...programArgs(runtime, path, collects), ...args],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", ...env },
    },
  );
  running.add(child);
  child.stdin.on("error", () => {}); // the end of the program is reported below
  child.stdout.resume(); // it may write a log
  let complaints = "";
  let onReply: ((value: unknown) => void) | undefined;
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line.startsWith(MARK)) onReply?.(JSON.parse(line.slice(MARK.length)));
    else complaints += `${line}\n`;
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      running.delete(child);
      resolve();
    });
  });
  const fault = ended.then(() => {
    throw new Error(`${path} on ${runtime.name} ended:\n${complaints}`);
  });
  fault.catch(() => {}); // it is reported to whoever waits
  return {
    fault,
    async ask(line, seconds = 20) {
      const reply = new Promise((resolve) => onReply = resolve);
      const timer = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
      child.stdin.write(`${line}\n`);
      return await Promise.race([reply, fault])
        .finally(() => clearTimeout(timer));
    },
    async stop(signal = "SIGKILL") {
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Runs a program that takes one line and gives one reply. */
export async function runProgram(
  runtime: Runtime,
  file: URL,
  task: unknown,
): Promise<unknown> {
  const program = startProcess(runtime, file, { collects: true });
  try {
    return await program.ask(JSON.stringify(task), 600);
  } finally {
    await program.stop();
  }
}

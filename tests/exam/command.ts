/** Runs the command of an exam: a client's program, once for each call. */

import { spawn } from "node:child_process";
import process from "node:process";
import { UsageError } from "../../adapters/program/command_line.ts";

/** How a run of a client ended. */
export interface Ended {
  /** The exit status; `null` if a signal ended it, or it printed more than 8 MiB. */
  readonly code: number | null;
  /** The signal that ended it, such as `SIGSEGV`. */
  readonly signal?: string;
  /** What it wrote to standard output. */
  readonly output: string;
  /** The end of what it wrote to standard error. */
  readonly errors?: string;
}

/**
 * Runs a client with these environment variables. Ends it once the signal is aborted, and resolves
 * when it has ended. Rejects if it cannot be started.
 */
export type Runner = (
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Ended>;

/** The variables of an exam, which may lack some of them in a call. */
const OWN =
  /^PETSTORE_(?:URL|KEY|CALL|PET|NAME|CATEGORY|STATUS|ID|LIMIT|TIMEOUT_MS)$/;
/** How much is read of standard output, in bytes, and kept of standard error, in characters. */
const [MAX_OUTPUT, MAX_ERRORS] = [8 * 1024 * 1024, 64 * 1024];
/** How long a command has to end after SIGTERM, in ms. */
const GRACE = 2000;
/** How long the pipes of a process that has ended are read: after the last data and in all, in ms. */
const [SILENCE, MOST] = [500, 5000];

/**
 * Makes a runner of a program with its arguments. Each run has a process group of its own, which is
 * ended with this process.
 */
export function runnerOf([program = "", ...args]: readonly string[]): Runner {
  const outside = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !OWN.test(name)),
  );
  const running = new Set<number>();
  process.on("exit", () => running.forEach((pid) => endGroup(pid, "SIGKILL")));

  return async (environment, signal) => {
    const child = spawn(program, args, {
      detached: true,
      env: { ...outside, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid, stdout, stderr } = child;
    const decoder = new TextDecoder();
    let [output, errors, length] = ["", "", 0];
    let lastData = 0;
    let killing: ReturnType<typeof setTimeout> | undefined;
    const end = (): void => {
      endGroup(pid, "SIGTERM");
      killing ??= setTimeout(endGroup, GRACE, pid, "SIGKILL");
    };
    stdout.on("data", (bytes: Uint8Array) => {
      lastData = Date.now();
      length += bytes.byteLength;
      if (length > MAX_OUTPUT) end();
      else output += decoder.decode(bytes, { stream: true });
    });
    stderr.setEncoding("utf8").on("data", (text: string) => {
      lastData = Date.now();
      errors = (errors + text).slice(-MAX_ERRORS);
    });
    if (pid !== undefined) running.add(pid);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    const closed = new Promise<void>((resolve) => child.once("close", resolve));
    try {
      const status = await new Promise<Omit<Ended, "output">>(
        (resolve, reject) => {
          child.once("exit", (code, signal) => {
            resolve({ code, ...signal && { signal } });
          }).once("error", ({ message }) => {
            reject(new UsageError(`Cannot start the client: ${message}`));
          });
        },
      );
      const exited = lastData = Date.now();
      // A process that it started may keep the pipes open.
      while (Date.now() < Math.min(lastData + SILENCE, exited + MOST)) {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const pause = new Promise<"open">((resolve) => {
          timer = setTimeout(resolve, SILENCE / 5, "open");
        });
        const state = await Promise.race([closed, pause]);
        clearTimeout(timer);
        if (state !== "open") break;
      }
      return {
        ...length > MAX_OUTPUT ? { code: null } : status,
        ...{ output, errors },
      };
    } finally {
      endGroup(pid, "SIGKILL"); // what it started, and left
      for (const pipe of [stdout, stderr]) pipe.destroy();
      clearTimeout(killing);
      signal.removeEventListener("abort", end);
      if (pid !== undefined) running.delete(pid);
    }
  };
}

/** Sends a signal to a process and to those that it started, if there is any. */
function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return; // it was not started
  try {
    process.kill(-pid, signal);
  } catch {
    // They have all ended. (On Windows there are no groups.)
  }
}

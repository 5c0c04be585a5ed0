/** Runs other programs: to their end, or as long as a test needs them. */

import { spawn } from "node:child_process";
import process from "node:process";

/** Where a program runs. */
export interface Surroundings {
  /** The folder it runs in. Default: that of this process. */
  readonly cwd?: string;
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its standard input stays open, for {@linkcode Program.send}. Default: it has nothing to read. */
  readonly isInteractive?: boolean;
}

/** A program under way. */
export interface Program {
  readonly pid: number | undefined;
  /** Returns all that it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Writes a line to its standard input. */
  readonly send: (line: string) => void;
  /** The next line that an interactive program writes to its standard output; `undefined` after the last. */
  readonly nextLine: () => Promise<string | undefined>;
  /** Sends a signal. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Its exit code; `null` if a signal ended it, or it could not be started. */
  readonly exited: Promise<number | null>;
  /** Sends a signal, SIGTERM by default, and returns the exit code; `null` if it has not ended after a minute. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
  /** Ends its standard input, and returns the exit code. */
  readonly endInput: () => Promise<number | null>;
}

/** Time that a program has to end after a signal, in ms. */
const END_TIMEOUT = 60_000;

/** Starts a command. */
export function launch(
  [command = "", ...args]: readonly string[],
  { cwd, env, isInteractive = false }: Surroundings = {},
): Program {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (!isInteractive) child.stdin.end();
  child.stdin.on("error", () => {}); // it has ended
  let [stdout, stderr, untaken] = ["", "", ""];
  let isOver = false;
  let wake = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    if (isInteractive) untaken += text;
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  const exited = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
    child.once("error", ({ message }) => {
      stderr += message;
      resolve(null);
    });
  });
  exited.then(() => {
    isOver = true;
    wake();
  });
  // Not child.kill(): after that Deno reports the signal in place of the exit code.
  function kill(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      process.kill(pid, signal);
    }
  }
  return {
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    send: (line) => void child.stdin.write(`${line}\n`),
    async nextLine() {
      while (!untaken.includes("\n")) {
        if (isOver) return undefined;
        await new Promise<void>((resolve) => wake = resolve);
      }
      const end = untaken.indexOf("\n");
      const line = untaken.slice(0, end);
      untaken = untaken.slice(end + 1);
      return line;
    },
    kill,
    exited,
    end(signal = "SIGTERM") {
      kill(signal);
      const timer = setTimeout(kill, END_TIMEOUT, "SIGKILL");
      return exited.finally(() => clearTimeout(timer));
    },
    endInput() {
      child.stdin.end();
      return exited;
    },
  };
}

/** The end of a program. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  /** Its standard error, or the reason why it could not be started. */
  readonly stderr: string;
}

/** Runs a command to its end; it is killed after `timeout` ms (by default, two minutes). */
export async function run(
  command: readonly string[],
  { timeout = 120_000, ...surroundings }: Surroundings & {
    readonly timeout?: number;
  } = {},
): Promise<Ended> {
  const { kill, exited, stdout, stderr } = launch(command, surroundings);
  const timer = setTimeout(kill, timeout, "SIGKILL");
  const code = await exited.finally(() => clearTimeout(timer));
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Runs a command that has to succeed, and returns what it wrote; rejects with what it complained of. */
export async function runWell(command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  if (code === 0) return stdout;
  throw new Error(`Cannot run ${command.join(" ")}: ${stderr}${stdout}`);
}

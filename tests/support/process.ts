/**
 * Runs other programs, to their end or as long as a test needs them, those in `programs/`, and
 * finds ports.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import test, { after, type TestContext } from "node:test";
import type { OpenService } from "../contract/ask.ts";
import { atEnd } from "./at_end.ts";
import { pathOf } from "./repository.ts";
import { commandLine, findRuntimes, type Runtime } from "./runtime.ts";

/** Where a program runs. */
export interface Surroundings {
  /** The folder it runs in. Default: that of this process. */
  readonly cwd?: string;
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Its standard input stays open, for {@linkcode Program.send}. Default: it has nothing to read.
   */
  readonly isInteractive?: boolean;
}

/** A running program. */
export interface Program {
  /** The folder it runs in. */
  readonly cwd: string;
  readonly pid: number | undefined;
  /** Returns all that it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Writes a line to its standard input. */
  readonly send: (line: string) => void;
  /** The next line that it writes to its standard output; `undefined` after the last. */
  readonly nextLine: () => Promise<string | undefined>;
  /** Sends a signal. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Its exit code; `null` if a signal ended it, or it could not be started. */
  readonly exited: Promise<number | null>;
  /**
   * Sends a signal, SIGTERM by default, and returns the exit code; `null` if it has not ended after
   * a minute.
   */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
  /** Ends its standard input, and returns the exit code as {@linkcode end} does. */
  readonly endInput: () => Promise<number | null>;
}

/** How long a program may take to exit once it is told to, in ms. */
const END_TIMEOUT = 60_000;

/** Starts a command. */
export function launch(
  [command = "", ...args]: readonly string[],
  { cwd = process.cwd(), env, isInteractive = false }: Surroundings = {},
): Program {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (!isInteractive) child.stdin.end();
  child.stdin.on("error", () => {}); // it has ended
  let [stdout, stderr] = ["", ""];
  let taken = 0;
  let isOver = false;
  let wake = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
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
  // Not child.kill(), after which Deno reports the signal instead of the exit code.
  function kill(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It has ended just now, and Deno tells that a little later.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  function exitInTime(): Promise<number | null> {
    const timer = setTimeout(kill, END_TIMEOUT, "SIGKILL");
    return exited.finally(() => clearTimeout(timer));
  }
  return {
    cwd,
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    send: (line) => void child.stdin.write(`${line}\n`),
    async nextLine() {
      while (!stdout.includes("\n", taken)) {
        if (isOver) return undefined;
        await new Promise<void>((resolve) => wake = resolve);
      }
      const start = taken;
      taken = stdout.indexOf("\n", start) + 1;
      return stdout.slice(start, taken - 1);
    },
    kill,
    exited,
    end(signal = "SIGTERM") {
      kill(signal);
      return exitInTime();
    },
    endInput() {
      child.stdin.end();
      return exitInTime();
    },
  };
}

/** Starts a command, which is ended after the test. */
export function startProgram(
  t: TestContext,
  command: readonly string[],
  surroundings?: Surroundings,
): Program {
  const program = launch(command, surroundings);
  atEnd(t, () => program.end("SIGKILL"));
  return program;
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

/** Runs a command that must succeed, and returns what it wrote; rejects with its error output. */
export async function runWell(command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  if (code === 0) return stdout;
  throw new Error(`Cannot run ${command.join(" ")}: ${stderr}${stdout}`);
}

/** Debian keeps some programs where only root looks. */
const FOLDERS = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];

/** The path of a program; `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(existsSync);
}

// ---- Our programs ----

/** Makes a program serve one more service, with these options, whose key is `secret`. */
type Open = (
  options: unknown,
) => Promise<OpenService & { readonly port: number }>;

/** Registers tests of a server on every runtime. A missing one is reported as skipped. */
export function onEveryRuntime(
  what: string,
  register: (name: Runtime["name"], open: Open) => void,
): void {
  for (const runtime of findRuntimes()) {
    const { name, missing } = runtime;
    if (missing !== undefined) {
      test(`${name}: ${what}`, { skip: missing }, () => {});
    } else register(name, start(runtime));
  }
}

/** Starts the program on a runtime; it ends after the last test of the file. */
function start(runtime: Runtime): Open {
  const file = pathOf("tests/support/programs/service.ts");
  const command = commandLine(file, ["--allow-net", "--allow-env"], runtime);
  const program = launch(command, { isInteractive: true });
  after(() => program.endInput());
  let turn: Promise<unknown> = Promise.resolve();
  return (options) => {
    const server = turn.then(async () => {
      program.send(JSON.stringify(options));
      const line = await program.nextLine();
      if (line === undefined) {
        const end = `${runtime.name} ended before it served`;
        throw new Error(`${end}:\n${program.stderr()}`);
      }
      const { port } = JSON.parse(line);
      const base = `http://127.0.0.1:${port}/v1`;
      const close = () => Promise.resolve();
      return { fetch, base, port, key: "secret", runtime: runtime.name, close };
    });
    turn = server.catch(() => {});
    return server;
  };
}

const PROGRAM = pathOf("tests/support/programs/storage.ts");

/** A running `storage.ts`. */
export type StorageProcess = ReturnType<typeof startStorage>;

/** Starts the program. */
export function startStorage(
  { prefix = [], denoFlags, ...surroundings }: Pick<Surroundings, "env"> & {
    /** The command line that the runtime's own is appended to. Default: none. */
    readonly prefix?: readonly string[];
    /** Flags of Deno. Default: all permissions. */
    readonly denoFlags?: readonly string[];
  } = {},
) {
  const command = [...prefix, ...commandLine(PROGRAM, denoFlags)];
  const { send, nextLine, end, endInput } = launch(command, {
    ...surroundings,
    isInteractive: true,
  });

  return {
    /** Sends a command, and returns its answers, without `done`; fewer if it ends before. */
    async tell(command: string): Promise<readonly string[]> {
      send(command);
      const answers: string[] = [];
      for (;;) {
        const answer = await nextLine();
        if (answer === undefined || answer === "done") return answers;
        answers.push(answer);
        if (!command.startsWith("create ")) return answers;
      }
    },
    kill: () => end("SIGKILL"),
    /** Shuts it down in order. */
    end: endInput,
  };
}

// ---- Ports of 127.0.0.1 ----

// Below the ports that Linux gives to clients (32768 and up): by the time a server returns, or is
// found to be gone, a client may have its port, and a client that connects to a closed port of that
// range can even reach itself. Servers take ports of one range, so that they take none that is
// free for a program to come.
const TAKEN = [10_000, 20_000] as const;
const FREE = [20_000, 26_000] as const;
/** Who has port N of these keeps port N + CLAIM open, so that no other process of tests takes N. */
const CLAIM = 6000;

/** Makes a server listen on any port, and returns the port. */
export async function portOf(
  server: Server,
  [least, end]: readonly [number, number] = TAKEN,
): Promise<number> {
  for (;;) {
    const port = least + Math.floor(Math.random() * (end - least));
    if (await listensAt(port, server)) return port;
  }
}

/**
 * A port on which nobody listens now, and that no client will get; nor will another caller, until
 * this process ends.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server, FREE);
  await new Promise((resolve) => server.close(resolve));
  const claim = createServer().unref();
  return await listensAt(port + CLAIM, claim) ? port : await freePort();
}

/** Makes a server listen at a port; `false` if that is taken. */
function listensAt(port: number, server: Server): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error);
    server.once("error", fail).listen(port, "127.0.0.1", () => {
      server.off("error", fail);
      resolve(true);
    });
  });
}

/**
 * Processes of servers: their account and folder, what they have forked (from /proc), and their
 * end.
 */

import { spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { runWell } from "../process.ts";
import { pathOf } from "../repository.ts";
import { until } from "../time.ts";

/** The processes that a process has forked and not reaped. */
function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc").map(Number).filter((child) =>
    Number.isInteger(child) && statusOf(child)?.parent === pid
  );
}

/**
 * Tells whether a process is running or stopped. One that only has not been reaped yet is neither.
 */
export function isAlive(pid: number): boolean {
  const state = statusOf(pid)?.state;
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Stops a process and all that it has forked, and returns their ids; they keep what they hold. */
export async function pauseTree(pid: number): Promise<readonly number[]> {
  // First the one that forks, so that no more can appear.
  await pauseProcess(pid);
  const children = childrenOf(pid);
  await Promise.all(children.map(pauseProcess));
  return [pid, ...children];
}

/** Ends a process, and all that it has forked, with SIGKILL at once. */
export async function killTree(pid: number): Promise<void> {
  const all = await pauseTree(pid);
  all.forEach((pid) => signal(pid, "SIGKILL"));
  await until("no process is left", () => !all.some(isAlive));
}

/** Sends a signal to a process, or to the group `-pid`, unless it is gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function pauseProcess(pid: number): Promise<void> {
  signal(pid, "SIGSTOP");
  await until(
    `process ${pid} is stopped`,
    () => !isAlive(pid) || statusOf(pid)?.state === "T",
  );
}

interface Status {
  /** One letter, of proc(5). */
  readonly state: string;
  readonly parent: number;
}

function statusOf(pid: number): Status | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may have spaces and parentheses.
    const [, state, parent] = /^\d+ \(.*\) (\w) (\d+)/s.exec(stat) ?? [];
    return state === undefined ? undefined : { state, parent: Number(parent) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The process is gone: ENOENT, or ESRCH in the middle of reading. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "ENOENT" || error.code === "ESRCH");
}

/** Runs a command in the servers' account, as `runWell` does. */
export function runAsServer(command: readonly string[]): Promise<string> {
  return runWell([...serverAccount().prefix, ...command]);
}

/** A program that runs in the servers' account. */
export interface Daemon {
  /** Its process id; 0 before the first start. */
  readonly pid: number;
  /** Returns all that it has written. */
  readonly log: () => string;
  /** Resolves once it is ready; rejects with what it wrote if it ends before. */
  readonly start: () => Promise<void>;
  /** Ends it, and all that it has forked, with SIGKILL at once. */
  readonly kill: () => Promise<void>;
}

/** A program whose folder has its `log`, and its process id in `pid`. */
export function daemon(
  folder: string,
  command: readonly string[],
  isReady: () => boolean | Promise<boolean> = () => true,
): Daemon {
  let running = 0;
  const path = join(folder, "log");
  const log = () => readFileSync(path, "utf8");
  return {
    get pid() {
      return running;
    },
    log,
    async start() {
      const [program = "", ...args] = [...serverAccount().prefix, ...command];
      const output = openSync(path, "a");
      const child = spawn(program, args, {
        // The account may not be able to enter the folder of the tests.
        cwd: "/",
        stdio: ["ignore", output, output],
        // Not the tests' own PGDATA, PGOPTIONS, LC_ALL and the like.
        env: { PATH: process.env.PATH, LC_ALL: "C" },
        // Ctrl-C in a terminal is for the tests, which then end the server.
        detached: true,
      });
      closeSync(output);
      child.unref();
      const { pid } = child;
      if (pid === undefined) throw new Error(`Cannot run ${program}`);
      running = pid;
      writeFileSync(join(folder, "pid"), `${pid}`);
      await until(`what writes ${path} is ready`, () => {
        if (isAlive(pid)) return isReady();
        throw new Error(`It does not start:\n${log()}`);
      });
    },
    kill: () => killTree(running),
  };
}

/** An account of this machine. */
export interface Account {
  /** The beginning of a command line that runs in the account; empty if every command does. */
  readonly prefix: readonly string[];
  /** Gives it a file or a folder. */
  readonly give: (path: string) => void;
}

/**
 * The account of this process; for root, `postgres` or else `nobody`. `setpriv` (util-linux) becomes
 * the command and does not fork, so that the process started is the server itself.
 */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return { prefix: [], give: () => {} };
  const passwd = readFileSync("/etc/passwd", "utf8");
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(passwd) ??
    /^nobody:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? ["", "65534", "65534"];
  return {
    prefix: `setpriv --reuid=${uid} --regid=${gid} --clear-groups --`.split(
      " ",
    ),
    give: (path) => chownSync(path, Number(uid), Number(gid)),
  };
}

/**
 * Makes a folder for servers, of their account; `remove` ends the servers, and removes the folder.
 * A separate process, `guard.sh`, does this: with a handler in this process, a SIGKILL or the
 * deadline of a test runner would leave them running.
 */
export function guardedFolder(): {
  readonly path: string;
  readonly remove: () => Promise<void>;
} {
  const path = mkdtempSync(join(tmpdir(), "petstore-postgres-"));
  serverAccount().give(path);
  const script = pathOf("tests/support/postgres/guard.sh");
  const guard = spawn(
    "sh",
    [script, path],
    // In its own session, so that Ctrl-C in a terminal does not reach it.
    { stdio: ["pipe", "ignore", "ignore"], detached: true },
  );
  const gone = new Promise<void>((resolve) =>
    guard.once("exit", () => resolve())
  );
  guard.unref();
  return {
    path,
    async remove() {
      guard.ref();
      guard.stdin?.end();
      await gone;
    },
  };
}

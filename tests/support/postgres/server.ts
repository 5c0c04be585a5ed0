/** The processes of one PostgreSQL server: the postmaster and what it forks. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "./daemon.ts";
import { isAlive, pauseTree, signal } from "./process_tree.ts";
import { until } from "./until.ts";

/** A server, running or not. */
export interface Server {
  /** Starts it again where it was; fulfilled once it takes connections. */
  start(): Promise<void>;
  /** Ends the clients' transactions, and writes a checkpoint; fulfilled once it is gone. */
  stop(): Promise<void>;
  /** Ends all its processes with SIGKILL, at once. What they had given to the kernel stays. */
  kill(): Promise<void>;
  /** Stops all its processes (SIGSTOP): connections stay open, and nothing is answered. */
  pause(): Promise<void>;
  /** The end of {@linkcode Server.pause}. */
  resume(): void;
  /** What it has written, all of it. */
  log(): string;
}

/** What a server runs on. */
export interface ServerOptions {
  /** The folder of `postgres`. */
  readonly binaries: string;
  /** Its data directory, which belongs to its account. */
  readonly data: string;
  readonly port: number;
  /** A file. */
  readonly log: string;
}

/** Describes a server; nothing runs before {@linkcode Server.start}. */
export function describeServer(options: ServerOptions): Server {
  const { binaries, data, port, log } = options;
  let pid = 0;
  let paused: readonly number[] = [];

  async function start(): Promise<void> {
    pid = startDaemon(
      [join(binaries, "postgres"), "-D", data, "-p", String(port)],
      log,
    );
    await until("PostgreSQL is ready", () => {
      if (!isAlive(pid)) {
        throw new Error(`PostgreSQL does not start:\n${readFileSync(log)}`);
      }
      return isReady(join(data, "postmaster.pid"), pid);
    });
  }

  async function stop(): Promise<void> {
    resume();
    signal(pid, "SIGINT");
    await until("PostgreSQL has stopped", () => !isAlive(pid));
  }

  async function kill(): Promise<void> {
    const all = await pauseTree(pid);
    all.forEach((pid) => signal(pid, "SIGKILL"));
    await until("no process is left", () => !all.some(isAlive));
    // The next one refuses to start as long as the kernel knows of this one, dead as it is.
    await until("it is forgotten", () => !existsSync(`/proc/${pid}`));
    paused = [];
  }

  function resume(): void {
    paused.forEach((pid) => signal(pid, "SIGCONT"));
    paused = [];
  }

  return {
    start,
    stop,
    kill,
    async pause() {
      paused = await pauseTree(pid);
    },
    resume,
    log: () => readFileSync(log, "utf8"),
  };
}

/** The postmaster's file names its process, and on line 8 its state (`pg_ctl` reads the same). */
function isReady(pidFile: string, pid: number): boolean {
  try {
    const lines = readFileSync(pidFile, "utf8").split("\n");
    return lines[0] === String(pid) && lines[7]?.trim() === "ready";
  } catch {
    // Not written yet.
    return false;
  }
}

/**
 * Servers of the pet store as processes, and faults. When a fault's promise resolves, what was
 * broken works again.
 */

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { Cluster } from "../../support/postgres/cluster.ts";
import { signal } from "../../support/postgres/processes.ts";
import type { Recorder, Target } from "./recorder.ts";
import { type ServerOptions, startMain } from "../../support/standalone.ts";
import { until } from "../../support/time.ts";

/** A program that can be ended or frozen, and started again: a pet store, or PostgreSQL. */
interface Victim {
  start(): Promise<void>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Shuts it down in order. */
  stop(): Promise<void>;
  /** Freezes it: connections stay open, and nothing is answered. */
  pause(): Promise<void> | void;
  /** Ends {@linkcode Victim.pause}. */
  resume(): void;
}

/** Breaks something while clients use it, and repairs it. */
export type Fault = (recorder: Recorder) => Promise<unknown>;

const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'petstore'`;

/** Kills programs, also poolers, and restarts them. */
export const kill = (
  ...victims: readonly Pick<Victim, "start" | "kill">[]
): Fault =>
async () => {
  await Promise.all(victims.map((victim) => victim.kill()));
  await Promise.all(victims.map((victim) => victim.start()));
};

/** Shuts a program down in order, and restarts it. */
export const restart = (victim: Victim): Fault => async () => {
  await victim.stop();
  await victim.start();
};

/** Freezes a program for a while. */
export const freeze = (victim: Victim, ms: number): Fault => async () => {
  await victim.pause();
  await pause(ms);
  victim.resume();
};

/** Two faults or more at the same time. */
export const atOnce = (...faults: readonly Fault[]): Fault => (recorder) =>
  Promise.all(faults.map((fault) => fault(recorder)));

/** A file is there as long as `work` takes: the disk of programs with `failing_disk.c` fails. */
export const whileThere =
  (file: string, work: Fault): Fault => async (recorder) => {
    writeFileSync(file, "");
    try {
      await work(recorder);
    } finally {
      rmSync(file);
    }
  };

/** Terminates all connections of clients. */
export const terminate = (cluster: Cluster): Fault => async () => {
  await cluster.query(TERMINATE);
};

/** Kills backends. PostgreSQL then ends all others, recovers and continues by itself. */
export const crash = (cluster: Cluster): Fault => async () => {
  const crashes = () => cluster.log().split("terminated by signal 9").length;
  const before = crashes();
  await until("a backend is killed", async () => {
    // It refuses connections while it recovers.
    const pids = await cluster.backends().catch(() => []);
    for (const pid of pids) signal(pid, "SIGKILL");
    // Those that were found may have ended by themselves.
    await pause(50);
    return crashes() > before;
  });
};

/** Others use all connections of the server of a URL for a while, those of the pet stores too. */
export const takeConnections = (url: string, ms: number): Fault => async () => {
  const sessions: Client[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const session = new Client({ connectionString: url });
    // The statements are rejected as well if the connection ends.
    session.on("error", () => {});
    try {
      await session.connect();
      sessions.push(session);
    } catch {
      await pause(20); // all are taken
    }
    await sessions[0]?.query(TERMINATE);
  }
  await Promise.all(sessions.map((session) => session.end()));
};

/** A server; after a restart it has another origin. */
export interface PetServer extends Target, Victim {
  /** The status of `/readyz`. */
  readiness(): Promise<number>;
}

/** Starts a server, which is killed after the test. */
export async function startServer(
  t: TestContext,
  { name, isReplica = false, ...options }: ServerOptions & {
    readonly name: string;
    /** Its database only takes reads. */
    readonly isReplica?: boolean;
  },
): Promise<PetServer> {
  let running = await startMain(t, options);
  return {
    name,
    isReplica,
    get origin() {
      return running.origin;
    },
    async start() {
      running = await startMain(t, options);
    },
    async stop() {
      const code = await running.end();
      // Only one that ran until now, and stops because it is told to, ends with 0.
      assert.equal(code, 0, running.stderr());
    },
    async kill() {
      assert.equal(await running.end("SIGKILL"), null, running.stderr());
    },
    pause: () => running.kill("SIGSTOP"),
    resume: () => running.kill("SIGCONT"),
    async readiness() {
      const response = await fetch(`${running.origin}/readyz`);
      await response.body?.cancel();
      return response.status;
    },
  };
}

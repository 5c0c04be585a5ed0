/** Servers of the pet store as processes, which a test may kill. */

import assert from "node:assert/strict";
import {
  runMain,
  type RunningServer,
  untilListening,
} from "../adapters/standalone/program.ts";
import type { Victim } from "./faults.ts";
import { FIXED_KEY, type Target } from "./recorder.ts";

/** A server; after a restart it has another origin. */
export interface PetServer extends Target, Victim {
  /** The status of `/readyz`. */
  readiness(): Promise<number>;
}

/** How servers are started. */
export interface ServerOptions {
  /** The folder they run in. */
  readonly cwd: string;
  /** Environment variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** `main.ts` of a mutant. Default: the product. */
  readonly main?: string;
  /** Its database only takes reads. */
  readonly isReplica?: boolean;
}

/** Starts a server. */
export async function startServer(
  name: string,
  { cwd, env, main, isReplica = false }: ServerOptions,
): Promise<PetServer> {
  const all = { PETSTORE_API_KEYS: FIXED_KEY, ...env };
  let running: RunningServer;
  async function start(): Promise<void> {
    const program = runMain(["start", "--port", "0"], { cwd, env: all }, main);
    running = await untilListening(program);
  }
  await start();
  return {
    name,
    isReplica,
    get origin() {
      return running.origin;
    },
    start,
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

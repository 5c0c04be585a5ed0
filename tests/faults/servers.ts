/** Servers of the pet store that share a database, as processes. */

import assert from "node:assert/strict";
import {
  inNewFolder,
  type RunningServer,
  startMain,
} from "../adapters/standalone/program.ts";
import { until } from "../support/postgres/until.ts";
import type { Target } from "./load.ts";

/** A server under way. */
export interface FaultServer extends Target, Omit<RunningServer, "key"> {
  /** The status of `/readyz`. */
  readiness(): Promise<number>;
}

/** One or more. */
export type Servers = readonly [FaultServer, ...FaultServer[]];

/**
 * Starts servers, and stops them when `work` is over. None may have ended by itself until then.
 *
 * @param database their `DATABASE_URL`.
 */
export async function withServers(
  count: number,
  database: string,
  work: (servers: Servers) => Promise<void>,
): Promise<void> {
  await inNewFolder(async (cwd) => {
    const key = "secret";
    const env = {
      DATABASE_URL: database,
      PETSTORE_API_KEYS: key,
      REQUEST_LOG: "off",
    };
    // Where one does not start, the others are to be stopped all the same.
    const outcomes = await Promise.allSettled(
      Array.from({ length: count }, () => startMain({ cwd, env })),
    );
    const servers = outcomes.flatMap((outcome) =>
      outcome.status === "fulfilled" ? [describe(outcome.value, key)] : []
    );
    try {
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") throw outcome.reason;
      }
      const [first, ...others] = servers;
      assert.ok(first !== undefined);
      await work([first, ...others]);
    } finally {
      servers.forEach((server) => server.kill("SIGTERM"));
      const codes = await Promise.all(servers.map(({ exited }) => exited));
      const faults = servers.map(({ stderr }) => stderr());
      // Only one that ran until now, and stops because it is told to, ends with 0.
      assert.deepEqual(codes, codes.map(() => 0), faults.join("\n"));
    }
  });
}

/** Waits until all servers reach the database: 10 s at most after it is there again. */
export async function untilReady(
  servers: readonly FaultServer[],
): Promise<void> {
  for (const server of servers) {
    const isReady = async () => await server.readiness() === 200;
    await until("the server is ready again", isReady, 10_000);
  }
}

function describe(server: RunningServer, key: string): FaultServer {
  return {
    ...server,
    key,
    async readiness() {
      const response = await fetch(`${server.origin}/readyz`);
      await response.body?.cancel();
      return response.status;
    },
  };
}

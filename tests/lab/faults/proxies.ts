/** Two servers behind a proxy, which end in turn, and clients that use them meanwhile. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import type { TestContext } from "node:test";
import { freePort } from "../../support/process.ts";
import { type RunningServer, startMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { awaitedLater, until } from "../../support/time.ts";

/** Starts two servers that share a file. */
export async function twoServers(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
) {
  const cwd = newFolder(t);
  const env = { METRICS: "on", TRUST_PROXY: "1", ...settings };
  const start = (port: number) => startMain(t, { cwd, env, port });
  const ports = [await freePort(), await freePort()];
  const servers = await Promise.all(ports.map(start));
  return {
    cwd,
    ports,
    servers,

    /** Ends each server in turn, and starts it again; it is used again afterwards. */
    async endEach(
      end: (server: RunningServer, index: number) => Promise<void>,
    ): Promise<void> {
      for (const [index, server] of servers.entries()) {
        await end(server, index);
        const { origin } = servers[index] = await start(server.port);
        await until("the proxy uses it again", async () => {
          const metrics = await (await fetch(`${origin}/metrics`)).text();
          return /_count\{http_route="\/v1\/pets"/.test(metrics);
        });
      }
    },

    /** Asserts that the servers log the address of a client of the proxy at this port. */
    async assertAddressLogged(port: number): Promise<void> {
      assert.equal(await listFrom("127.0.0.5", port), 200);
      await until(
        "the client's address is logged",
        () =>
          servers.some(({ stdout }) =>
            stdout().includes('"client":"127.0.0.5"')
          ),
      );
    },
  };
}

/**
 * Sends `GET /v1/pets` with a forged `X-Forwarded-For` from an address of this machine; returns the
 * status.
 */
async function listFrom(
  localAddress: string,
  port: number,
): Promise<number> {
  const headers = {
    "authorization": "Bearer secret",
    "x-forwarded-for": "6.6.6.6",
  };
  const where = { host: "127.0.0.1", port, path: "/v1/pets" };
  const sent = get({ ...where, localAddress, headers, agent: false });
  const [response] = await once(sent, "response");
  response.resume();
  return response.statusCode;
}

/** Does each of these again and again, until its end. */
export function repeating(jobs: readonly (() => Promise<unknown>)[]) {
  const counts = jobs.map(() => 0);
  let isOver = false;
  const work = awaitedLater(Promise.all(jobs.map(async (job, index) => {
    for (let count = 1; !isOver; count++) {
      await job();
      counts[index] = count;
    }
  })));
  return {
    /** Resolves once each was done some more times; rejects if one failed. */
    async goesOn(): Promise<void> {
      const enough = counts.map((count) => count + 20);
      const isMore = () =>
        counts.every((count, index) => count > (enough[index] ?? 0));
      await Promise.race([work, until("more is done", isMore)]);
    },
    /** Resolves to how often something was done. */
    async end(): Promise<number> {
      isOver = true;
      await work;
      return counts.reduce((sum, count) => sum + count);
    },
  };
}

/**
 * Notices a split brain: two servers of an address accept writes, because one was promoted and the
 * old primary was not stopped. Nothing is refused, but an operator is told. The hosts that are not in
 * use are asked on connections of their own, one each, which do not count towards the pool's limit.
 */

import { report } from "../../../core/kit.ts";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { Connection } from "./client.ts";
import type { ClientSettings } from "./settings.ts";

/** The minimum time from one look to the next, in ms. */
const PAUSE = 1000;

/** @param onWarning is told which hosts accept writes. */
export function splitBrainWatch(
  { hosts, writable }: Pick<PostgresAddress, "hosts" | "writable">,
  settings: ClientSettings,
  onWarning: ((message: string) => void) | undefined,
) {
  const asking = new Set<Connection>();
  let count = 0;
  let nextLook = 0;
  let isClosed = false;

  /** Returns what identifies the server at a host. Rejects if it does not accept writes. */
  async function identify(host: PostgresHost): Promise<unknown> {
    const connection = new Connection(settings, host);
    asking.add(connection);
    try {
      return await connection.open({ writable: true });
    } finally {
      asking.delete(connection);
      connection.end();
    }
  }

  /** @param server what identifies the server at `host`, which accepts writes. */
  async function askOthers(host: PostgresHost, server: unknown): Promise<void> {
    const servers = await Promise.all(
      hosts.map((each) =>
        each === host ? server : identify(each).catch(() => undefined)
      ),
    );
    if (isClosed) return;
    nextLook = performance.now() + PAUSE;
    const found = hosts.filter((_, place) =>
      servers[place] !== undefined && servers.indexOf(servers[place]) === place
    );
    if (found.length < 2) return;
    count++;
    const which = describeHosts(found);
    report(() =>
      onWarning?.(`two hosts accept writes: fence the old one (${which})`)
    );
  }

  return {
    /** How often two hosts accepted writes. */
    get count() {
      return count;
    },

    /**
     * Asks the other hosts, if there are any. Call it after connecting to one, and do not wait for
     * it.
     */
    look(host: PostgresHost, server: unknown): void {
      const isDue = performance.now() >= nextLook;
      if (!writable || hosts.length < 2 || isClosed || !isDue) return;
      nextLook = Infinity;
      void askOthers(host, server);
    },

    close(): void {
      isClosed = true;
      for (const connection of asking) connection.cut();
    },
  };
}

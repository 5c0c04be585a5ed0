/**
 * Notices a split brain: two servers of an address accept writes, because one was promoted and the
 * old primary was not stopped. Nothing is refused, but an operator is told.
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

  async function askAll(): Promise<void> {
    const servers = await Promise.all(
      hosts.map((host) => identify(host).catch(() => undefined)),
    );
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

    /** Asks all hosts, if there are several. Call it after connecting to one; do not wait for it. */
    look(): void {
      if (!writable || hosts.length < 2 || performance.now() < nextLook) return;
      nextLook = Infinity;
      void askAll();
    },

    close(): void {
      nextLook = Infinity;
      for (const connection of asking) connection.cut();
    },
  };
}

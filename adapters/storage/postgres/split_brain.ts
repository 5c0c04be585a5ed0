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
import { type ClientSettings, Connection } from "./client.ts";

/** The minimum time from one look to the next, in ms. */
const PAUSE = 1000;

// Identifies a server: several hosts of the address may be poolers in front of the same one.
const STARTED = {
  text: "SELECT pg_catalog.concat(pg_postmaster_start_time())",
  rowMode: "array",
};

/** @param onWarning is told which hosts accept writes. */
export function splitBrainWatch(
  { hosts, writable }: Pick<PostgresAddress, "hosts" | "writable">,
  settings: ClientSettings,
  onWarning: ((message: string) => void) | undefined,
) {
  const asking = new Set<Connection>();
  let found = 0;
  let nextLook = 0;

  /** Returns what identifies the server at a host. Rejects if it does not accept writes. */
  async function identify(host: PostgresHost): Promise<unknown> {
    const connection = new Connection(settings, host);
    asking.add(connection);
    try {
      await connection.open({ writable: true });
      const { rows: [row] } = await connection.query(STARTED, []);
      return row?.[0];
    } finally {
      asking.delete(connection);
      connection.end();
    }
  }

  async function askAll(): Promise<void> {
    const answers = await Promise.allSettled(hosts.map(identify));
    const servers = new Map<unknown, PostgresHost>();
    for (const [place, host] of hosts.entries()) {
      const answer = answers[place];
      if (answer?.status === "fulfilled") servers.set(answer.value, host);
    }
    nextLook = performance.now() + PAUSE;
    if (servers.size < 2) return;
    found++;
    const which = describeHosts([...servers.values()]);
    report(() =>
      onWarning?.(`two hosts accept writes: fence the old one (${which})`)
    );
  }

  return {
    /** How often two hosts accepted writes. */
    get found() {
      return found;
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

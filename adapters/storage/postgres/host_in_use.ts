/**
 * Which of several servers is in use: of those that accept writes, the one with the highest timeline.
 *
 * A timeline is a number that grows with each promotion of a standby. An old primary that was not told of a
 * promotion still accepts writes, which will be lost; only its timeline gives it away.
 */

import { setTimeout } from "node:timers";
import type pg from "pg";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { isRefused, WrongServer } from "./fault.ts";

/** What a server says of itself. */
export interface Standing {
  readonly isWritable: boolean;
  /** 0 if it cannot be read, as on a standby. */
  readonly timeline: number;
}

/** A host as a look found it. */
interface Sighting extends Standing {
  readonly host: PostgresHost;
  /** Why it could not be asked. */
  readonly fault?: unknown;
}

/** Time from the end of a look to the next one, in ms. */
const PAUSE = 1000;

/**
 * Begins with the first host, unless one of several has to accept writes.
 *
 * @param ask connects to a host, and returns its {@linkcode standingOf}.
 * @param onMove is called with a sentence when another host than before is in use.
 */
export function hostInUse(
  { hosts, writable }: Pick<PostgresAddress, "hosts" | "writable">,
  ask: (host: PostgresHost) => Promise<Standing>,
  onMove: (message: string) => void,
) {
  let current = writable && hosts.length > 1 ? undefined : hosts[0];
  /** The highest that the host in use had; 0 as long as it could not be read. */
  let timeline = 0;
  /** The last look, until the next one is due. */
  let looked: Promise<readonly Sighting[]> | undefined;

  async function lookAtOthers(): Promise<readonly Sighting[]> {
    const others = hosts.filter((host) => host !== current);
    const seen = await Promise.all(others.map((host) =>
      ask(host).then(
        ({ isWritable, timeline }) => ({
          ...{ host, isWritable },
          // Where any server will do, none is better than another.
          timeline: writable ? timeline : 0,
        }),
        (fault) => ({ isWritable: false, timeline: 0, host, fault }),
      )
    ));
    setTimeout(() => looked = undefined, PAUSE).unref();
    return seen;
  }

  /** Returns why a server cannot be used; `undefined` if it can. */
  function objection(its: Standing, least: number): WrongServer | undefined {
    if (!writable || its.isWritable && its.timeline >= least) return undefined;
    return new WrongServer(
      its.isWritable
        ? `its timeline is ${its.timeline || "unknown"}, not ${least} or later`
        : "the server is read-only",
    );
  }

  /**
   * Looks at the other hosts, unless it did so within the last second, and moves to the best: one with a
   * higher timeline or, if the host in use is lost, one with no lower timeline.
   *
   * @returns why the others cannot be used.
   */
  async function look(
    { isLost }: { readonly isLost: boolean },
  ): Promise<readonly unknown[]> {
    // Without a timeline to compare with, it stays as long as it can.
    if (!isLost && timeline === 0) return [];
    const before = current;
    const seen = await (looked ??= lookAtOthers());
    // Another call has moved meanwhile.
    if (current !== before) return [];
    const others = seen.filter(({ host }) => host !== current)
      .map((its) => ({
        ...its,
        fault: its.fault ?? objection(its, isLost ? timeline : timeline + 1),
      }));
    // Of equal timelines the first: a sort is stable.
    const [best] = others.filter(({ fault }) => fault === undefined)
      .sort((one, other) => other.timeline - one.timeline);
    if (best !== undefined) {
      ({ host: current, timeline } = best);
      const where = describeHosts([best.host]);
      const which = timeline === 0 ? "" : `, timeline ${timeline}`;
      if (before !== undefined) onMove(`moved to ${where}${which}`);
    }
    return others.map(({ fault }) => fault);
  }

  return {
    /** The host to connect to; `undefined` until the best of several is known. */
    get current() {
      return current;
    },

    /** Rejects if a new connection to a host is not to be used. */
    async check(host: PostgresHost, client: pg.ClientBase): Promise<void> {
      const its = writable ? await standingOf(client) : undefined;
      // It may have been pending at a server that hung until another one was found.
      if (host !== current) throw new WrongServer("another server is used now");
      if (its === undefined) return;
      const fault = objection(its, its.timeline === 0 ? 0 : timeline);
      if (fault !== undefined) throw fault;
      timeline = Math.max(timeline, its.timeline);
    },

    look,

    /** Looks for a higher timeline if that is due. To be called at each use: reads would never leave an old primary. */
    watch(): void {
      if (looked === undefined) look({ isLost: false });
    },
  };
}

const IS_READ_ONLY = "current_setting('transaction_read_only') AS read_only";
// The file of the log into which the server writes begins with the timeline, in 8 hexadecimal digits. Right after
// a promotion pg_control_checkpoint() still has the old one, until the next checkpoint (its manual, "Control Data
// Functions"; seen in PostgreSQL 15). The test is tests/adapters/storage/postgres/host_in_use_test.ts.
const LOG_FILE = `CASE WHEN NOT pg_is_in_recovery()
    THEN pg_walfile_name(pg_current_wal_lsn()) END AS log_file`;

/** Asks a server for its standing. */
export async function standingOf(client: pg.ClientBase): Promise<Standing> {
  const ask = async (columns: string): Promise<Standing> => {
    const { rows: [row] } = await client.query(`SELECT ${columns}`);
    return {
      isWritable: row.read_only === "off",
      timeline: parseInt(row.log_file?.slice(0, 8) ?? "0", 16),
    };
  };
  try {
    return await ask(`${IS_READ_ONLY}, ${LOG_FILE}`);
  } catch (error) {
    // Its functions are revoked, or those of PostgreSQL alone.
    if (!isRefused(error)) throw error;
    return await ask(IS_READ_ONLY);
  }
}

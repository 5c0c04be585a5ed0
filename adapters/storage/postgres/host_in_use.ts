/**
 * Chooses the PostgreSQL server to use, and decides when to move to another: to the writable one
 * with the highest timeline. The pool only tells it what it needs to know, and replaces the
 * connections.
 *
 * A timeline is a number that grows with each promotion of a standby. An old primary that does not
 * know of a promotion still accepts writes, which will be lost; only its timeline reveals that.
 */

import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import type { Connection } from "./client.ts";
import { isRefused, WrongServer } from "./fault.ts";

/** What a server says about itself. */
export interface Standing {
  readonly isWritable: boolean;
  /** 0 if it cannot be read, as on a standby. */
  readonly timeline: number;
}

interface StandingOfHost extends Standing {
  readonly host: PostgresHost;
}

/** The standing of every host if any server will do: none is better than another. */
const ANY: Standing = { isWritable: true, timeline: 0 };

/** Pause between two checks of the other hosts, in ms. */
const PAUSE = 1000;

/**
 * Starts with the first host. If the host must be writable and there are several, starts with none
 * until the first check.
 *
 * @param ask connects to a host, and returns its {@linkcode standingOf}.
 * @param onMove is called with a sentence when a different host is in use.
 */
export function hostInUse(
  { hosts, writable }: Pick<PostgresAddress, "hosts" | "writable">,
  ask: (host: PostgresHost) => Promise<Standing>,
  onMove: (message: string) => void,
) {
  let current = writable && hosts.length > 1 ? undefined : hosts[0];
  /** The highest timeline seen on the host in use; 0 until one has been read. */
  let timeline = 0;
  /** The last answers of the other hosts, and when to ask again: not before all have answered. */
  let answers: Promise<readonly PromiseSettledResult<StandingOfHost>[]> =
    Promise.resolve([]);
  let nextLook = 0;

  function askOthers(): void {
    nextLook = Infinity;
    const others = hosts.filter((host) => host !== current);
    answers = Promise.allSettled(others.map(async (host) => {
      const standing = await ask(host);
      return { host, ...writable ? standing : ANY };
    })).finally(() => nextLook = performance.now() + PAUSE);
  }

  /** @throws {WrongServer} if a server is read-only, or has a lower timeline than `least`. */
  function assertUsable(its: Standing, least: number): void {
    if (!its.isWritable) throw new WrongServer("the server is read-only");
    if (its.timeline >= least) return;
    const known = its.timeline || "unknown";
    throw new WrongServer(`its timeline is ${known}, not ${least} or later`);
  }

  /**
   * Checks the other hosts, at most once a second, and moves to the one with the highest timeline.
   * Never rejects.
   *
   * @param ahead by how much a timeline must be higher than that of the host in use: 1, or 0 if
   * that host is lost.
   * @returns why the others cannot be used.
   */
  async function look(ahead: 0 | 1): Promise<readonly unknown[]> {
    if (performance.now() >= nextLook) askOthers();
    const before = current;
    const others = await answers;
    // Another call has already moved.
    if (current !== before) return [];
    const faults: unknown[] = [];
    let best: StandingOfHost | undefined;
    for (const answer of others) {
      try {
        if (answer.status === "rejected") throw answer.reason;
        const its = answer.value;
        // The answers may be older than the move to this host.
        if (its.host === current) continue;
        assertUsable(its, timeline + ahead);
        // Among equal timelines the first host is used.
        if (its.timeline > (best?.timeline ?? -1)) best = its;
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (best !== undefined) {
      current = best.host;
      timeline = best.timeline;
      const which = timeline === 0 ? "" : `, timeline ${timeline}`;
      const message = `moved to ${describeHosts([current])}${which}`;
      if (before !== undefined) onMove(message);
    }
    return faults;
  }

  return {
    /** The host to connect to; `undefined` until the best one is known. */
    get current() {
      return current;
    },

    /** Rejects if a new connection must not be used. */
    async check(connection: Connection): Promise<void> {
      const its = writable ? await standingOf(connection) : ANY;
      // While this was connecting to a hanging server, another one may have been found.
      if (connection.target !== current) {
        throw new WrongServer("another server is used now");
      }
      // A timeline of 0 means unknown and cannot be compared, so the host stays in use.
      assertUsable(its, its.timeline === 0 ? 0 : timeline);
      timeline = Math.max(timeline, its.timeline);
    },

    /** Looks for a host to use instead of a lost one; see `look`. */
    replace: () => look(0),

    /**
     * Looks for a host with a higher timeline if that is due. Call it at each use: otherwise reads
     * would never leave an old primary. Without a timeline to compare, the host stays in use as
     * long as possible.
     */
    watch(): void {
      if (timeline > 0 && performance.now() >= nextLook) void look(1);
    },
  };
}

const IS_READ_ONLY = "SELECT current_setting('transaction_read_only')";
// The name of the server's current log file begins with the timeline, in 8 hexadecimal digits.
// After a promotion pg_control_checkpoint() has the old timeline until the next checkpoint (the
// manual, "Control Data Functions"; seen in PostgreSQL 15). Tested by
// tests/adapters/storage/postgres/host_in_use_test.ts.
const LOG_FILE = `CASE WHEN NOT pg_is_in_recovery()
    THEN pg_walfile_name(pg_current_wal_lsn()) END`;

/** Asks a server for its standing. */
export async function standingOf(connection: Connection): Promise<Standing> {
  const ask = async (text: string): Promise<Standing> => {
    const { rows } = await connection.query({ text, rowMode: "array" }, []);
    const [[readOnly, logFile] = []] = rows;
    return {
      isWritable: readOnly === "off",
      timeline: logFile ? parseInt(String(logFile).slice(0, 8), 16) : 0,
    };
  };
  try {
    return await ask(`${IS_READ_ONLY}, ${LOG_FILE}`);
  } catch (error) {
    // This user may not call the functions, or the server is not PostgreSQL and lacks them.
    if (!isRefused(error)) throw error;
    return await ask(IS_READ_ONLY);
  }
}

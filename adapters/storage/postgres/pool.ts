/**
 * Decides which connection a statement gets.
 *
 * ```text
 *              connected              lent
 * connecting ─────────────▶ idle ◀────────────▶ in use
 *     │                      │      returned      │
 *     │ failed               │ mistrusted         │ failed
 *     └───────────────▶ ended ◀───────────────────┘
 * ```
 *
 * - *Connecting*: first to the host that served last, then to the others in the order of the
 *   address. Hosts that cannot be reached, or must accept writes and do not, are passed over.
 * - *In use*: lent for one statement or transaction. If that fails, the connection is ended.
 * - *Idle*: lent again, the latest first, unless it is mistrusted; ended after 30 s.
 * - *Mistrusted*: opened before another connection was lost, or a different host was used, because
 *   it may be dead too, or lead to a server that was replaced. With several hosts also a minute
 *   after it was opened: a server may have become read-only meanwhile.
 */

import { closedError, type PoolCounts } from "../pet_database.ts";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { Connection } from "./client.ts";
import { fault, isRefusal, WrongServer } from "./fault.ts";
import { settingsOf, type TimeLimits } from "./settings.ts";
import { splitBrainWatch } from "./split_brain.ts";

/** Time limits, and a callback for warnings. */
export interface PoolOptions extends TimeLimits {
  /** Called with a sentence when two hosts accept writes. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** How long a connection may be idle, in ms. */
const MAX_IDLE = 30_000;
/** How long a connection is used if there are several hosts, in ms. */
const MAX_LIFETIME = 60_000;

/** Makes a pool, which connects when a connection is taken. Every one taken must be returned. */
export function connectionPool(address: PostgresAddress, options: PoolOptions) {
  const { hosts, writable, driver: { max } } = address;
  const { connectTimeout } = options;
  const lifetime = hosts.length > 1 ? MAX_LIFETIME : Infinity;
  const settings = settingsOf(address, options);
  const splitBrain = splitBrainWatch(address, settings, options.onWarning);
  /** Those that may be lent, the latest used last. */
  const idle: Connection[] = [];
  /** Calls that wait for one of the `max` places, in order. */
  const waiting: PromiseWithResolvers<void>[] = [];
  /** How many places are taken: by connections that are connecting, in use, or ending after use. */
  let taken = 0;
  let open = 0;
  let lost = 0;
  /** Counts each time that connections which are open become mistrusted. */
  let epoch = 0;
  /** The host that served last. */
  let served = hosts[0];
  /** Set by `close()`; resolved when every place is free. */
  let closing: PromiseWithResolvers<void> | undefined;

  /** Takes a place, once one is free. */
  async function takePlace(): Promise<void> {
    if (taken < max) return void taken++;
    const turn = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(turn), 1);
      const limit = `connection_limit is ${max}`;
      const time = `${connectTimeout} ms`;
      turn.reject(new Error(`no connection was free for ${time} (${limit})`));
    }, connectTimeout);
    waiting.push(turn);
    await turn.promise.finally(() => clearTimeout(timer));
  }

  /** Gives a place to the next call. */
  function freePlace(): void {
    const next = waiting.shift();
    if (next !== undefined) return next.resolve();
    taken--;
    if (taken === 0) closing?.resolve();
  }

  /** Takes the idle connection that was used last, and ends those that are mistrusted. */
  function takeIdle(): Connection | undefined {
    for (let found; (found = idle.pop());) {
      const isYoung = performance.now() - found.openedAt < lifetime;
      if (found.epoch === epoch && isYoung) return found;
      found.end();
    }
  }

  /** Opens a connection to the host that served last or, if that fails, to another one. */
  async function connect(): Promise<Connection> {
    const before = served;
    const order = hosts.toSorted((a, b) =>
      Number(b === before) - Number(a === before)
    );
    const faults: unknown[] = [];
    for (const host of order) {
      const connection = new Connection(settings, host);
      try {
        await connection.open({ writable });
        // If this host hung, another call may have left it meanwhile.
        if (served !== before && served !== host) {
          throw new WrongServer("another host is used now");
        }
        return use(connection, host);
      } catch (error) {
        connection.end();
        if (hosts.length === 1 || isRefusal(error)) throw error;
        faults.push(error);
      }
    }
    throw new AggregateError(faults, writable ? "no host accepts writes" : "");
  }

  function use(connection: Connection, host: PostgresHost): Connection {
    if (host !== served) epoch++;
    served = host;
    connection.epoch = epoch;
    open++;
    connection.on("error", () => drop(connection));
    connection.on("end", () => {
      open--;
      drop(connection);
    });
    splitBrain.look();
    return connection;
  }

  /** Drops an idle connection that has ended. One in use is not lent again. */
  function drop(connection: Connection): void {
    connection.epoch = -1;
    const place = idle.indexOf(connection);
    if (place < 0) return;
    idle.splice(place, 1);
    lost++;
    connection.end();
  }

  // Ends those that were not used for long.
  const sweeping = setInterval(() => {
    const oldest = performance.now() - MAX_IDLE;
    while (idle[0] && idle[0].usedAt <= oldest) idle.shift()?.end();
  }, MAX_IDLE).unref();

  return {
    /** Lends a connection. Rejects with the fault of `action`; then nothing was sent. */
    async take(action: string): Promise<Connection> {
      if (closing !== undefined) throw closedError(action);
      try {
        await takePlace();
        try {
          return takeIdle() ?? await connect();
        } catch (error) {
          freePlace();
          throw error;
        }
      } catch (error) {
        const where = `${action} at ${describeHosts(hosts)}`;
        throw fault("unavailable", where, error);
      }
    },

    /**
     * Takes a connection back: to be lent again or, if the work on it failed, to be ended. Its place
     * is then free once the server has closed it.
     */
    giveBack(connection: Connection, isUseless = false): void {
      if (isUseless || closing !== undefined) {
        connection.end().then(freePlace);
        return;
      }
      connection.usedAt = performance.now();
      idle.push(connection);
      freePlace();
    },

    /** Call it when a lent connection is lost: those that are open now may be dead too. */
    lose(): void {
      lost++;
      epoch++;
    },

    counts: (): PoolCounts => ({
      open,
      waiting: waiting.length,
      lost,
      splitBrains: splitBrain.found,
    }),

    /** Closes the connections; lent ones are closed once they are given back. */
    async close(): Promise<void> {
      closing ??= Promise.withResolvers();
      clearInterval(sweeping);
      splitBrain.close();
      for (const connection of idle.splice(0)) {
        taken++;
        connection.end().then(freePlace);
      }
      for (const { reject } of waiting.splice(0)) {
        reject(new Error("the storage is closed"));
      }
      if (taken === 0) closing.resolve();
      await closing.promise;
    },
  };
}

/**
 * Decides which connection a statement gets. A connection is in one of these states:
 *
 * - *Connecting*: first to the host that served last, then to the others in the order of the
 *   address. Hosts that cannot be reached, or must accept writes and do not, are passed over.
 * - *In use*: lent for one statement or transaction. If that succeeds, the connection becomes idle;
 *   if it fails, the connection is ended.
 * - *Idle*: lent again, the latest used first. It is ended once it was not used for 30 s or, with
 *   several hosts, a minute after it was opened: its server may have become read-only meanwhile.
 * - *Mistrusted*: all that are open become so when one is lost in use, because they may be dead
 *   too, and when a different host is used, because their server may have been replaced. Those that
 *   are idle are ended at once, those in use when they are returned.
 * - *Ended*: by this pool or by the server. It is never lent again.
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

/** How long a connection may be idle, in ms. A look as often ends those that were longer. */
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
  /** The hosts: the one that served last, then the others in the order of the address. */
  let order = hosts;
  /** Idle connections, the latest used last. */
  const idle: Connection[] = [];
  /** Those that are idle, or in use and not mistrusted. */
  const trusted = new Set<Connection>();
  /** A connection has a place while it is connecting, in use, or ending after use. */
  let freePlaces = max;
  /** Calls that wait for a place, in order. */
  const waiting: PromiseWithResolvers<void>[] = [];
  // For `counts()`.
  let open = 0;
  let lost = 0;
  /** Set by `close()`; resolved when every place is free. */
  let closing: PromiseWithResolvers<void> | undefined;

  /** Waits for the place of another call. */
  async function waitForPlace(): Promise<void> {
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

  /** Passes a place on to the next call. */
  function freePlace(): void {
    const next = waiting.shift();
    if (next !== undefined) return next.resolve();
    freePlaces++;
    if (freePlaces === max) closing?.resolve();
  }

  /** Takes the idle connection that was used last, and ends those that are too old. */
  function takeIdle(): Connection | undefined {
    for (let found; (found = idle.pop());) {
      if (performance.now() - found.openedAt < lifetime) return found;
      found.end();
    }
  }

  /** Opens a connection to the host that served last or, if that fails, to another one. */
  async function connect(): Promise<Connection> {
    const tried = order;
    const faults: unknown[] = [];
    for (const host of tried) {
      const connection = new Connection(settings, host);
      try {
        await connection.open({ writable });
        // Another call may have changed the order while this host hung.
        if (order !== tried && order[0] !== host) {
          throw new WrongServer("another host is used now");
        }
        return trust(connection, host);
      } catch (error) {
        connection.end();
        if (hosts.length === 1 || isRefusal(error)) throw error;
        faults.push(error);
      }
    }
    throw new AggregateError(faults, writable ? "no host accepts writes" : "");
  }

  function trust(connection: Connection, host: PostgresHost): Connection {
    if (order[0] !== host) {
      order = [host, ...hosts.filter((other) => other !== host)];
      mistrustAll();
    }
    trusted.add(connection);
    open++;
    connection.on("error", () => drop(connection));
    connection.on("end", () => {
      open--;
      drop(connection);
    });
    splitBrain.look();
    return connection;
  }

  function mistrustAll(): void {
    trusted.clear();
    for (const connection of idle.splice(0)) connection.end();
  }

  /** Drops a connection that has ended. */
  function drop(connection: Connection): void {
    trusted.delete(connection);
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
        if (freePlaces > 0) freePlaces--;
        else await waitForPlace();
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
     * Takes a connection back: to be lent again or, if the work on it failed or it is mistrusted, to
     * be ended. Its place is then free once the server has closed it.
     */
    giveBack(connection: Connection, hasFailed = false): void {
      if (hasFailed || !trusted.has(connection) || closing !== undefined) {
        connection.end().then(freePlace);
        return;
      }
      connection.usedAt = performance.now();
      idle.push(connection);
      freePlace();
    },

    /** Call it when a lent connection is lost. */
    lose(): void {
      lost++;
      mistrustAll();
    },

    counts: (): PoolCounts => ({
      open,
      waiting: waiting.length,
      lost,
      splitBrains: splitBrain.count,
    }),

    /** Closes the connections; lent ones are closed once they are given back. */
    async close(): Promise<void> {
      closing ??= Promise.withResolvers();
      clearInterval(sweeping);
      splitBrain.close();
      for (const { reject } of waiting.splice(0)) {
        reject(new Error("the storage is closed"));
      }
      if (freePlaces === max) closing.resolve();
      const ending = idle.splice(0).map((connection) => connection.end());
      await Promise.all([closing.promise, ...ending]);
    },
  };
}

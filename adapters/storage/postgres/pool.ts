/**
 * Decides which connection a statement gets; nothing else does. A call takes a connection, and
 * returns it. It gets the idle one that was used last. If none is idle it opens one, and if there are
 * already `connection_limit`, it waits for one of them. A connection is in one of these states:
 *
 * - *Connecting*: first to the host that served last, then to the others in the order of the
 *   address. Hosts that cannot be reached, or must accept writes and do not, are passed over.
 * - *In use*: lent for one statement or transaction. If that succeeds, the connection becomes idle;
 *   if it fails, the connection is ended.
 * - *Idle*: lent again, the latest used first. It is ended after 30 s to a minute without use. With
 *   several hosts it is not lent later than a minute after it was opened: its server may have become
 *   read-only meanwhile.
 * - *Mistrusted*: all that are open become so when a trusted one is lost in use, because they may be
 *   dead too, and when a different host is used, because their server may have been replaced.
 *   Those that are idle are ended at once, those in use when they are returned.
 * - *Ended*: by this pool or by the server. It is never lent again. One that was in use or idle counts
 *   towards the limit until it is closed, for a second at most. A server that still works on its last
 *   statement may have one more connection meanwhile.
 */

import { closedError, type PoolCounts } from "../pet_database.ts";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { Connection } from "./client.ts";
import { fault, isRefusal } from "./fault.ts";
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
  /**
   * How many more may be opened. Each has a place from before it connects until it has ended, or could
   * not be opened.
   */
  let freePlaces = max;
  /** Calls that wait, in order, for an idle connection or else a place. */
  const waiting: PromiseWithResolvers<Connection | undefined>[] = [];
  // For `counts()`.
  let open = 0;
  let lost = 0;
  /** Set by `close()`; resolved when every place is free. */
  let closing: PromiseWithResolvers<void> | undefined;

  /** Waits for an idle connection or else a place. */
  async function wait(): Promise<Connection | undefined> {
    const turn = Promise.withResolvers<Connection | undefined>();
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(turn), 1);
      const limit = `connection_limit is ${max}`;
      const time = `${connectTimeout} ms`;
      turn.reject(new Error(`no connection was free for ${time} (${limit})`));
    }, connectTimeout);
    waiting.push(turn);
    return await turn.promise.finally(() => clearTimeout(timer));
  }

  function freePlace(): void {
    const next = waiting.shift();
    if (next !== undefined) return next.resolve(undefined);
    freePlaces++;
    if (freePlaces === max) closing?.resolve();
  }

  /** Takes the idle connection that was used last, and ends those that are too old. */
  function takeIdle(): Connection | undefined {
    for (let found; (found = idle.pop());) {
      if (performance.now() - found.openedAt < lifetime) return found;
      end(found);
    }
  }

  /** Ends a connection that nobody uses, once. Its place is free when it has ended. */
  function end(connection: Connection): void {
    trusted.delete(connection);
    connection.end().then(freePlace);
  }

  /** Opens a connection to the host that served last or, if that fails, to another one. */
  async function connect(): Promise<Connection> {
    const tried = order;
    const faults: unknown[] = [];
    for (const host of tried) {
      const connection = new Connection(settings, host);
      try {
        const server = await connection.open({ writable });
        // Otherwise it would be counted as open for ever.
        if (connection.hasEnded) throw new Error("Connection terminated");
        if (order === tried || order[0] === host) {
          return trust(connection, host, server);
        }
        connection.end();
      } catch (error) {
        connection.end();
        if (hosts.length === 1 || isRefusal(error)) throw error;
        faults.push(error);
      }
      // Another call uses a different host by now.
      if (order !== tried) return await connect();
    }
    throw new AggregateError(faults, writable ? "no host accepts writes" : "");
  }

  function trust(
    connection: Connection,
    host: PostgresHost,
    server: unknown,
  ): Connection {
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
    splitBrain.look(host, server);
    return connection;
  }

  function mistrustAll(): void {
    trusted.clear();
    for (const connection of idle.splice(0)) end(connection);
  }

  /** Drops a connection that was lost while it was idle. */
  function drop(connection: Connection): void {
    const place = idle.indexOf(connection);
    if (place < 0) return;
    idle.splice(place, 1);
    lost++;
    end(connection);
  }

  // Ends those that were not used for long.
  const sweeping = setInterval(() => {
    const oldest = performance.now() - MAX_IDLE;
    for (let found; (found = idle[0]) && found.usedAt <= oldest;) {
      idle.shift();
      end(found);
    }
  }, MAX_IDLE).unref();

  return {
    /** Lends a connection. Rejects with the fault of `action`; then nothing was sent. */
    async take(action: string): Promise<Connection> {
      if (closing !== undefined) throw closedError(action);
      const found = takeIdle();
      if (found !== undefined) return found;
      try {
        if (freePlaces > 0) freePlaces--;
        else {
          const returned = await wait();
          if (returned !== undefined) return returned;
        }
        return await connect().catch((error) => {
          freePlace();
          throw error;
        });
      } catch (error) {
        const where = `${action} at ${describeHosts(hosts)}`;
        throw fault("unavailable", where, error);
      }
    },

    /**
     * Takes a connection back: to be lent again or, if the work on it failed, or it is mistrusted or
     * was lost, to be ended.
     */
    giveBack(connection: Connection, hasFailed = false): void {
      const isGood = trusted.has(connection) && !connection.hasEnded;
      if (hasFailed || !isGood || closing !== undefined) {
        return end(connection);
      }
      connection.usedAt = performance.now();
      idle.push(connection);
      if (waiting.length === 0) return;
      const found = takeIdle();
      if (found !== undefined) waiting.shift()?.resolve(found);
    },

    /**
     * Call it when a lent connection is lost. What is known of a mistrusted one is not news: those
     * that are open now may be newer.
     */
    lose(connection: Connection): void {
      lost++;
      if (trusted.has(connection)) mistrustAll();
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
      mistrustAll();
      if (freePlaces === max) closing.resolve();
      await closing.promise;
    },
  };
}

/**
 * The pool of connections to PostgreSQL: which server they go to, and which of them are still good.
 *
 * @module
 */

import pg from "pg";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { describeHosts, type PostgresAddress } from "./address.ts";
import { clientsAt, getTypeParser, passwordOfEnvironment } from "./client.ts";
import { areAllTaken, connectFault, ReadOnlyServer } from "./fault.ts";

/** How long things may take, in ms. */
export interface Timeouts {
  /** To be given a connection, or to make one, at each server. */
  readonly connectTimeout: number;
  /** From a statement to its result. */
  readonly queryTimeout: number;
  /** To wait for a lock that another connection holds. */
  readonly lockTimeout: number;
}

/** Connections that are lent. */
export interface PostgresPool {
  /**
   * Lends a connection, to be released.
   * @throws {StorageError} `unavailable` where there is none in time.
   */
  connect(action: string): Promise<pg.PoolClient>;
  /** To be called where a connection was lost: those that were made before it are not lent again. */
  mistrust(): void;
  /** Lets go of all connections, once they are idle. */
  close(): Promise<void>;
}

/** Makes no connection yet. */
export function postgresPool(
  address: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: Timeouts,
): PostgresPool {
  const { hosts, user, database, options } = address;
  let current = 0;
  let closed: Promise<void> | undefined;

  const pool = new pg.Pool({
    Client: clientsAt(() => hosts[current] ?? {}),
    max: address.connectionLimit,
    connectionTimeoutMillis: connectTimeout,
    query_timeout: queryTimeout,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: address.applicationName,
    ...user === undefined ? {} : { user },
    ...database === undefined ? {} : { database },
    ...options === undefined ? {} : { options },
    ...address.pgbouncer ? {} : { lock_timeout: lockTimeout },
    password: address.password ?? passwordOfEnvironment,
    ssl: address.ssl,
    enableChannelBinding: address.channelBinding,
    types: { getTypeParser },
    onConnect: address.writable ? assertWritable : undefined,
  });
  // An idle connection ended: the pool has let go of it, and whoever needs one next makes a new one.
  pool.on("error", () => {});

  /** When each connection was made, and when the last one was lost, in ms. */
  const made = new WeakMap<pg.PoolClient, number>();
  let lost = -Infinity;
  pool.on("connect", (client) => made.set(client, performance.now()));

  /** Where one connection did not answer, those that are older are not waited for, one by one. */
  async function take(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if ((made.get(client) ?? 0) > lost) return client;
      client.release(true);
    }
  }

  async function connect(action: string): Promise<pg.PoolClient> {
    if (closed !== undefined) {
      throw new StorageError("unavailable", "The storage is closed");
    }
    const faults: unknown[] = [];
    for (let tries = 0; tries < hosts.length; tries++) {
      const tried = current;
      try {
        return await take();
      } catch (error) {
        faults.push(error);
        if (areAllTaken(error)) break;
        // Others who failed at the same server must not step over the next one.
        if (current === tried) current = (current + 1) % hosts.length;
      }
    }
    const cause = faults.length === 1 ? faults[0] : new AggregateError(faults);
    throw connectFault(`${action} at ${describeHosts(hosts)}`, cause);
  }

  return {
    connect,

    mistrust() {
      lost = performance.now();
    },

    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}

/** After a failover the old server may be there again, as a standby. */
async function assertWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<[string]>({
    text: "SHOW transaction_read_only",
    rowMode: "array",
  });
  if (rows[0]?.[0] !== "off") throw new ReadOnlyServer();
}

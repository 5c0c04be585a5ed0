/**
 * The pool of connections to PostgreSQL: which server they go to, and which are still good.
 *
 * @module
 */

import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import pg from "pg";
import { StorageError } from "../../core/pets/pet_storage.ts";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { areAllTaken, connectFault, ReadOnlyServer } from "./fault.ts";

/** Time limits, in ms. */
export interface Timeouts {
  /** For a connection, at each server. */
  readonly connectTimeout: number;
  /** From a statement to its result. */
  readonly queryTimeout: number;
  /** For a lock that another connection holds. */
  readonly lockTimeout: number;
}

/** A pool of connections. */
export interface PostgresPool {
  /**
   * Lends a connection, to be released.
   * @throws {StorageError} `unavailable` if none is to be had in time.
   */
  connect(action: string): Promise<pg.PoolClient>;
  /** Call it if a connection was lost: those made before are not lent again. */
  mistrust(): void;
  /** Closes all connections, once they are idle. */
  close(): Promise<void>;
}

/** How long to wait for a server to close a connection, in ms. */
const END_TIMEOUT = 1000;

/** The OID of PostgreSQL's type `int8`. */
const INT8 = 20;

/** Connects when a connection is first asked for. */
export function postgresPool(
  address: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: Timeouts,
): PostgresPool {
  const { hosts, user, database, options } = address;
  let current = 0;
  let closed: Promise<void> | undefined;

  const pool = new pg.Pool({
    Client: clientsOf(() => hosts[current] ?? {}),
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
    password: address.password ?? environmentPassword,
    ssl: address.ssl,
    enableChannelBinding: address.channelBinding,
    types: {
      // Without this an int8 is a string.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? BigInt : pg.types.getTypeParser(oid, format as "text"),
    },
    onConnect: address.writable ? assertWritable : undefined,
  });
  // The pool has dropped an idle connection that ended; nothing else is to be done.
  pool.on("error", () => {});

  /** When each connection was made, and when one was last lost, in ms. */
  const made = new WeakMap<pg.PoolClient, number>();
  let lost = -Infinity;
  pool.on("connect", (client) => made.set(client, performance.now()));

  /** Takes a connection, but none that is older than the last loss: each might hang in turn. */
  async function take(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if ((made.get(client) ?? 0) > lost) return client;
      client.release(true);
    }
  }

  return {
    async connect(action) {
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
          // Others that failed at the same server must not skip the next one.
          if (current === tried) current = (current + 1) % hosts.length;
        }
      }
      throw connectFault(
        `${action} at ${describeHosts(hosts)}`,
        faults.length === 1 ? faults[0] : new AggregateError(faults),
      );
    },

    mistrust() {
      lost = performance.now();
    },

    close: () => closed ??= pool.end(),
  };
}

/** After a failover the old server may be back, as a standby. */
async function assertWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<[string]>({
    text: "SHOW transaction_read_only",
    rowMode: "array",
  });
  if (rows[0]?.[0] !== "off") throw new ReadOnlyServer();
}

/** The driver itself would look for a file of passwords, and end the program if it may not. */
function environmentPassword(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it into the address, or into PGPASSWORD",
  );
}

/** The driver's type omits the settings that the pool passes to a client. */
type PoolClientConstructor = new () => pg.Client;

/** Clients that connect to the current host, and whose faults and ends reach the pool in time. */
function clientsOf(currentHost: () => PostgresHost): PoolClientConstructor {
  class Client extends pg.Client {
    constructor(config: pg.ClientConfig) {
      // The pool makes the password non-enumerable, so `...` leaves it out.
      super({ ...config, password: config.password, ...currentHost() });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(
      callback?: (error: Error) => void,
    ): Promise<pg.Client> | void {
      if (callback === undefined) return super.connect();
      try {
        super.connect(callback);
      } catch (error) {
        // Deno throws if it may not use a socket, and the pool would wait for this client for ever.
        this.connection.stream.destroy();
        callback(error as Error);
      }
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      // The driver waits for the server to close the connection; one that hangs never does.
      const timer = setTimeout(
        () => this.connection.stream.destroy(),
        END_TIMEOUT,
      );
      timer.unref();
      this.once("end", () => clearTimeout(timer));
      return callback === undefined ? super.end() : super.end(callback);
    }
  }
  return Client as unknown as PoolClientConstructor;
}

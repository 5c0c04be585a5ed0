/**
 * Connections to PostgreSQL: every statement in bounded time, and every fault in the words of the
 * storage port.
 *
 * @module
 */

import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import pg from "pg";
import { StorageError } from "../../core/pet_storage.ts";
import { describeHosts, type PostgresAddress } from "./postgres_address.ts";
import {
  areAllTaken,
  connectFault,
  isConnectionLost,
  isNotReplicated,
  mayHaveHappened,
  type Notice,
  outcomeUnknown,
  ReadOnlyServer,
  statementFault,
} from "./postgres_fault.ts";

/** How long things may take, in ms. */
export interface Timeouts {
  /** To be given a connection, or to make one, at each server. */
  readonly connectTimeout: number;
  /** From a statement to its result. */
  readonly queryTimeout: number;
  /** To wait for a lock that another connection holds. */
  readonly lockTimeout: number;
}

/** A statement that the server prepares once for each connection. */
export interface Statement {
  /** Names it among the statements of this program. */
  readonly name: string;
  readonly text: string;
}

/** A parameter of a statement. */
export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Sends one statement on one connection. */
export type Send = (
  statement: Statement,
  values: readonly Value[],
) => Promise<readonly Row[]>;

/** The connections to one database. */
export interface PostgresConnections {
  /** Sends a statement that changes nothing. */
  read(
    action: string,
    statement: Statement,
    values: readonly Value[],
  ): Promise<readonly Row[]>;
  /** Sends a statement that changes something, and is its own transaction. */
  write(
    action: string,
    statement: Statement,
    values: readonly Value[],
  ): Promise<readonly Row[]>;
  /**
   * Sends several statements in one transaction (`READ COMMITTED`). It holds the advisory lock
   * `lock` from its beginning to its end, so that of those with the same lock one runs at a time.
   */
  transaction<T>(
    action: string,
    lock: bigint,
    work: (send: Send) => Promise<T>,
  ): Promise<T>;
  /** Lets go of everything, once it is idle. */
  close(): Promise<void>;
}

/**
 * What a transaction that writes selects: it waits for the disk even where the database is set up to
 * commit without waiting, and hears where it did not wait for its standby.
 */
export const DURABLY = `CASE current_setting('synchronous_commit') WHEN 'off'
      THEN set_config('synchronous_commit', 'on', true) END,
    set_config('client_min_messages', 'warning', true)`;

// Whatever the database is set to: each statement is to see what was done before the lock was given.
const BEGIN = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const COMMIT = { name: "commit", text: "COMMIT" };
// Set here, because a pooler takes no settings that are sent when a connection is made.
const LOCK = {
  name: "lock",
  text: `SELECT set_config('lock_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $2, true),
    ${DURABLY},
    pg_advisory_xact_lock($3)`,
};

/** How long a server may take to hang up, in ms. */
const GOODBYE = 1000;

/** Makes no connection yet: the first statement does. */
export function postgresConnections(
  address: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: Timeouts,
): PostgresConnections {
  const { hosts, user, database, options } = address;
  let current = 0;
  let closed: Promise<void> | undefined;

  /** Goes to the server that is the current one at the time. */
  class Client extends pg.Client {
    constructor(config: pg.ClientConfig) {
      // The pool hides the password from those who list its settings, and so from `...`.
      super({ ...config, password: config.password, ...hosts[current] });
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
        // Deno throws where it may not use a socket, and the pool would wait for this one for ever.
        this.connection.stream.destroy();
        callback(error as Error);
      }
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      // It says goodbye, and waits for the server to hang up; one that hangs never does.
      const timer = setTimeout(() => this.connection.stream.destroy(), GOODBYE);
      timer.unref();
      this.once("end", () => clearTimeout(timer));
      return callback === undefined ? super.end() : super.end(callback);
    }
  }

  const pool = new pg.Pool({
    // The type says that a client is made from nothing; in truth it is given the pool's settings.
    Client: Client as unknown as new () => pg.Client,
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

  /** Lends a connection to `work`; where that fails, the connection is not used again. */
  async function use<T>(
    action: string,
    work: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T> {
    const client = await connect(action);
    // The statement under way is told too; without a listener the program would end.
    client.on("error", ignore);
    let fault: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.off("error", ignore);
      client.release(fault);
    }
  }

  async function send(
    client: pg.PoolClient,
    { name, text }: Statement,
    values: readonly Value[],
  ): Promise<readonly Row[]> {
    try {
      const { rows } = await client.query<unknown[]>({
        text,
        values: [...values],
        rowMode: "array",
        ...address.pgbouncer ? {} : { name: `petstore ${name}` },
      });
      return rows;
    } catch (error) {
      if (isConnectionLost(error)) lost = performance.now();
      throw error;
    }
  }

  /** Sends what changes nothing, or nothing yet. */
  async function ask(
    action: string,
    client: pg.PoolClient,
    statement: Statement,
    values: readonly Value[] = [],
  ): Promise<readonly Row[]> {
    try {
      return await send(client, statement, values);
    } catch (error) {
      throw statementFault(at(action, client), error);
    }
  }

  /** Sends what commits, and tells apart what has not happened and what may have. */
  async function commit(
    action: string,
    client: pg.PoolClient,
    statement: Statement,
    values: readonly Value[] = [],
  ): Promise<readonly Row[]> {
    let warning: string | undefined;
    function onNotice(notice: Notice): void {
      if (isNotReplicated(notice)) warning = notice.message;
    }
    client.on("notice", onNotice);
    let rows;
    try {
      rows = await send(client, statement, values);
    } catch (error) {
      throw mayHaveHappened(error)
        ? outcomeUnknown(at(action, client), error)
        : statementFault(at(action, client), error);
    } finally {
      client.off("notice", onNotice);
    }
    if (warning === undefined) return rows;
    throw outcomeUnknown(at(action, client), new Error(warning));
  }

  return {
    read: (action, statement, values) =>
      use(action, (client) => ask(action, client, statement, values)),

    write: (action, statement, values) =>
      use(action, (client) => commit(action, client, statement, values)),

    transaction: (action, lock, work) =>
      use(action, async (client) => {
        await ask(action, client, BEGIN);
        const times = [`${lockTimeout}ms`, `${queryTimeout}ms`];
        await ask(action, client, LOCK, [...times, lock]);
        // Where this fails, the connection is let go of, and the server undoes what was done.
        const result = await work((statement, values) =>
          ask(action, client, statement, values)
        );
        await commit(action, client, COMMIT);
        return result;
      }),

    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}

/** An action, and the server that it was asked of. */
function at(action: string, { host, port }: pg.PoolClient): string {
  return `${action} at ${describeHosts([{ host, port }])}`;
}

/** After a failover the old server may be there again, as a standby. */
async function assertWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<[string]>({
    text: "SHOW transaction_read_only",
    rowMode: "array",
  });
  if (rows[0]?.[0] !== "off") throw new ReadOnlyServer();
}

/** The driver would look for a file of passwords, and end the program where it may not. */
function passwordOfEnvironment(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it into the address, or into PGPASSWORD",
  );
}

const INT8 = 20;

/** An int8 as bigint, where the driver would leave it a string; the rest as the driver has it. */
function getTypeParser(
  oid: number,
  format?: "text" | "binary",
): (text: string) => unknown {
  return oid === INT8 ? BigInt : pg.types.getTypeParser(oid, format as "text");
}

function ignore(): void {}

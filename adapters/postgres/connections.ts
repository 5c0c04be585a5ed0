/** Connections to PostgreSQL: which server they go to, and bounded statements and transactions. */

import { hash } from "node:crypto";
import process from "node:process";
import pg from "pg";
import { StorageError } from "../../core/pets/pet_storage.ts";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { clientsOf } from "./client.ts";
import {
  areAllTaken,
  canBeRepeated,
  fault,
  isConnectionUseless,
  isNotReplicated,
  isUnsent,
  type Notice,
  statementFault,
  WrongServer,
} from "./fault.ts";

/** Time limits, in ms: for a connection at each server, a statement's result, and another's lock. */
interface Timeouts {
  readonly connectTimeout: number;
  readonly queryTimeout: number;
  readonly lockTimeout: number;
}

/** A statement. With a name the server prepares it once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** Makes a statement to be prepared, for what is sent often. */
export function prepared(text: string): Statement {
  return { name: `petstore ${hash("sha1", text)}`, text };
}

/** Makes a statement of SQL in which each `?` stands for a value. */
export function numbered(sql: string): Statement {
  let place = 0;
  return { text: sql.replaceAll("?", () => `$${++place}`) };
}

export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Sends a statement, whose result may take `timeout` ms (default: `queryTimeout`). */
export type Send = (
  statement: Statement,
  values?: readonly Value[],
  timeout?: number,
) => Promise<readonly Row[]>;

/** Is given two ways to send: `ask` changes nothing yet, `commit` does. */
type Work<T> = (ask: Send, commit: Send) => Promise<T>;

export type PostgresConnections = ReturnType<typeof postgresConnections>;

/**
 * To be selected by a transaction that writes: it waits for the disk even if the database is set not
 * to, and is warned if it did not wait for a standby.
 */
export const DURABLY = `CASE current_setting('synchronous_commit') WHEN 'off'
      THEN set_config('synchronous_commit', 'on', true) END,
    set_config('client_min_messages', 'warning', true)`;

// Whatever the database's default: each statement must see what was committed before the lock.
const BEGIN = { text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const COMMIT = { text: "COMMIT" };
// Set here because a pooler refuses settings that are sent with a new connection.
const LOCK = {
  text: `SELECT set_config('lock_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $2, true),
    ${DURABLY},
    pg_advisory_xact_lock($3)`,
};

// Whatever the database's default. With another isolation, creates that take turns fail (40001). Prepared
// pages would be planned each time, which takes longer than to read them. The plan that is kept must not be
// that of an empty table, which is scanned, nor one that is compiled because any limit may be a large one.
export const SETTINGS = [
  "-c default_transaction_isolation=read\\ committed",
  "-c plan_cache_mode=force_generic_plan",
  "-c enable_seqscan=off",
  "-c jit=off",
].join(" ");

/** Connects at the first statement. */
export function postgresConnections(
  address: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: Timeouts,
) {
  const { hosts, driver } = address;
  let current = 0;
  let closed: Promise<void> | undefined;

  const pool = new pg.Pool({
    ...driver,
    Client: clientsOf(() => hosts[current] ?? {}),
    connectionTimeoutMillis: connectTimeout,
    query_timeout: queryTimeout,
    idleTimeoutMillis: 30_000,
    ...address.pgbouncer ? {} : {
      options: `${driver.options ?? process.env.PGOPTIONS ?? ""} ${SETTINGS}`,
      lock_timeout: lockTimeout,
    },
    password: driver.password ?? environmentPassword,
    types: {
      // Without this an int8 is a string.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8
          ? BigInt
          : pg.types.getTypeParser(oid, format as "text"),
    },
    async onConnect(client: pg.ClientBase & { target?: PostgresHost }) {
      // After a failover the old server may be back, as a standby.
      if (address.writable) {
        const { rows } = await client.query<{ transaction_read_only: string }>(
          "SHOW transaction_read_only",
        );
        if (rows[0]?.transaction_read_only !== "off") {
          throw new WrongServer("the server is read-only");
        }
      }
      // It may have been pending at a server that hung until another one was found.
      if (client.target === hosts[current]) return;
      throw new WrongServer("another server is used now");
    },
  });
  // The pool has dropped an idle connection that ended; nothing else is to be done.
  pool.on("error", ignore);

  /** The connections that were made since one was last lost: older ones may hang too. */
  let trusted = new WeakSet<pg.PoolClient>();
  /** The warning of a commit that is on one machine only, by connection. */
  const warnings = new WeakMap<pg.PoolClient, string>();
  pool.on("connect", (client: pg.PoolClient) => {
    trusted.add(client);
    // The statement under way fails too. Without a listener the program would end, even if the server
    // ends the connection in the packet that opens it.
    client.on("error", ignore);
    client.on("notice", (notice: Notice) => {
      if (isNotReplicated(notice)) warnings.set(client, `${notice.message}`);
    });
  });

  async function take(): Promise<pg.PoolClient> {
    const client = await pool.connect();
    if (trusted.has(client)) return client;
    client.release(true);
    return await take();
  }

  /** Lends a connection, to be released. Nothing was sent if this fails. */
  async function connect(action: string): Promise<pg.PoolClient> {
    if (closed !== undefined) {
      const message = `Cannot ${action}: the storage is closed`;
      throw new StorageError("unavailable", message);
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
    throw fault(
      "unavailable",
      `${action} at ${describeHosts(hosts)}`,
      faults.length === 1 ? faults[0] : new AggregateError(faults),
    );
  }

  async function query(
    client: pg.PoolClient,
    { name, text }: Statement,
    values: readonly Value[] = [],
    timeout = queryTimeout,
  ): Promise<readonly Row[]> {
    try {
      const query = {
        text,
        values: [...values],
        rowMode: "array" as const,
        query_timeout: timeout,
        ...address.pgbouncer ? {} : { name },
      };
      const { rows } = await client.query<unknown[]>(query);
      return rows;
    } catch (error) {
      if (isConnectionUseless(error)) trusted = new WeakSet();
      throw error;
    }
  }

  /**
   * Lends a connection to `work`, and once more another one if the first ended before a statement was
   * sent: what `work` did until then is rolled back, even if that statement is COMMIT.
   */
  async function use<T>(action: string, work: Work<T>): Promise<T> {
    try {
      return await useOne(action, work);
    } catch (error) {
      if (!isUnsent(error)) throw error;
      return await useOne(action, work);
    }
  }

  /** Lends a connection to `work`; if that fails, the connection is not used again. */
  async function useOne<T>(action: string, work: Work<T>): Promise<T> {
    const client = await connect(action);

    const sender = (changes: boolean): Send => async (...args) => {
      try {
        const rows = await query(client, ...args);
        const warning = warnings.get(client);
        if (warning === undefined) return rows;
        throw new Error(warning);
      } catch (error) {
        const { host, port } = client;
        const actionAtHost = `${action} at ${describeHosts([{ host, port }])}`;
        throw statementFault(actionAtHost, error, { changes });
      }
    };

    let isUseless = true;
    try {
      const result = await work(sender(false), sender(true));
      isUseless = false;
      return result;
    } finally {
      client.release(isUseless);
    }
  }

  return {
    /**
     * Sends a statement that changes nothing. If its connection fails, it is sent once more, on another
     * one; `queryTimeout` holds for both answers together.
     */
    async read(
      action: string,
      statement: Statement,
      values?: readonly Value[],
    ) {
      const deadline = performance.now() + queryTimeout;
      let isSent = false;
      const send = (timeout?: number) =>
        use(action, (ask) => {
          isSent = true;
          return ask(statement, values, timeout);
        });
      try {
        return await send();
      } catch (error) {
        const left = Math.floor(deadline - performance.now());
        if (!isSent || left < 1 || !canBeRepeated(error)) throw error;
        return await send(left);
      }
    },

    /** Sends a statement that changes something, in a transaction of its own. */
    write: (action: string, ...args: Parameters<Send>) =>
      use(action, (_, commit) => commit(...args)),

    /**
     * Runs a transaction (`READ COMMITTED`) that holds the advisory lock `lock` from beginning to end: of
     * those with the same lock, one runs at a time.
     */
    transaction: <T>(
      action: string,
      lock: bigint,
      work: (send: Send) => Promise<T>,
    ) =>
      use(action, async (ask, commit) => {
        await ask(BEGIN);
        await ask(LOCK, [`${lockTimeout}ms`, `${queryTimeout}ms`, lock]);
        // If this fails, the connection is closed, and the server rolls back.
        const result = await work(ask);
        await commit(COMMIT);
        return result;
      }),

    close: (): Promise<void> => closed ??= pool.end(),
  };
}

/** The driver itself would look for a file of passwords, and end the program if it may not. */
function environmentPassword(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it into the address, or into PGPASSWORD",
  );
}

function ignore(): void {}

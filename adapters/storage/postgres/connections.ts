/** Reads, writes and transactions in PostgreSQL, each on a connection that a pool lends. */

import { StorageError } from "../../../core/pets/pet_storage.ts";
import { describeHosts, type PostgresAddress } from "./address.ts";
import type { Connection } from "./client.ts";
import {
  canBeRepeated,
  isConnectionUseless,
  isUnsent,
  statementFault,
} from "./fault.ts";
import { connectionPool, type PoolOptions } from "./pool.ts";
import type { Row, Statement, Value } from "./statement.ts";
import { takeTurn } from "./turn.ts";

/** Sends a statement, whose result may take `timeout` ms (default: `queryTimeout`). */
export type Send = (
  statement: Statement,
  values?: readonly Value[],
  timeout?: number,
) => Promise<readonly Row[]>;

/** Is given two ways to send: `ask` changes nothing yet, `commit` does. */
type Work<T> = (ask: Send, commit: Send) => Promise<T>;

export type PostgresConnections = ReturnType<typeof postgresConnections>;

// Whatever the database's default: each statement must see what was committed before the lock.
const BEGIN = { text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
// Set here because PgBouncer refuses settings that are sent with a new connection (see `IS_POOLER` in fault.ts).
const LOCK = {
  text: `SELECT set_config('idle_in_transaction_session_timeout', $3, true),
      ${takeTurn("$1", "$2")}`,
};
const COMMIT = { text: "COMMIT" };

/** Connects at the first statement. */
export function postgresConnections(
  address: PostgresAddress,
  options: PoolOptions,
) {
  const { queryTimeout, lockTimeout } = options;
  const pool = connectionPool(address, options);

  async function query(
    connection: Connection,
    ...[{ name, text }, values = [], timeout = queryTimeout]: Parameters<Send>
  ): Promise<readonly Row[]> {
    try {
      const config = {
        text,
        values: [...values],
        rowMode: "array" as const,
        query_timeout: timeout,
        ...address.pgbouncer ? {} : { name },
      };
      const { rows } = await connection.query<unknown[]>(config);
      return rows;
    } catch (error) {
      if (isConnectionUseless(error)) pool.mistrust();
      throw error;
    }
  }

  /** Lends a connection to `work`; if that fails, the connection is not used again. */
  async function lend<T>(action: string, work: Work<T>): Promise<T> {
    const connection = await pool.take(action);

    const sender = (changes: boolean): Send => async (...args) => {
      try {
        const rows = await query(connection, ...args);
        if (connection.warning === undefined) return rows;
        // The commit did not reach a standby: it is on one machine only.
        throw new Error(connection.warning);
      } catch (error) {
        const { host, port } = connection;
        const actionAtHost = `${action} at ${describeHosts([{ host, port }])}`;
        throw statementFault(actionAtHost, error, { changes });
      }
    };

    try {
      const result = await work(sender(false), sender(true));
      connection.release();
      return result;
    } catch (error) {
      connection.release(true);
      throw error;
    }
  }

  /**
   * Lends a connection to `work`. If it ended before a statement could be sent, `work` runs once more, on another
   * one: what it did on the first is rolled back, even if that statement was COMMIT.
   */
  async function use<T>(action: string, work: Work<T>): Promise<T> {
    try {
      return await lend(action, work);
    } catch (error) {
      if (isUnsent(error)) return await lend(action, work);
      // A primary that was replaced still takes connections, but what waits there for a standby or a lock waits
      // in vain. The caller does not wait for the look.
      if (error instanceof StorageError) void pool.look();
      throw error;
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
      /** When its answer is due; set when it is first sent. */
      let due: number | undefined;
      const work: Work<readonly Row[]> = (ask) => {
        due ??= performance.now() + queryTimeout;
        return ask(statement, values, Math.max(1, due - performance.now()));
      };
      try {
        return await lend(action, work);
      } catch (error) {
        const isDue = due === undefined || due - performance.now() < 1;
        if (isDue || !canBeRepeated(error)) throw error;
        return await lend(action, work);
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
        await ask(LOCK, [`${lockTimeout}ms`, lock, `${queryTimeout}ms`]);
        // If this fails, the connection is closed, and the server rolls back.
        const result = await work(ask);
        await commit(COMMIT);
        return result;
      }),

    close: pool.close,
  };
}

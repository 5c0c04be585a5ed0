/** Reads, writes and transactions in PostgreSQL, each on a connection that a pool lends. */

import { StorageError } from "../../../core/pets/pet_storage.ts";
import { describeHosts, type PostgresAddress } from "./address.ts";
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

/** Work to do on one connection. */
type Work<T> = (send: Send) => Promise<T>;

export type PostgresConnections = ReturnType<typeof postgresConnections>;

// Explicit, whatever the default: each statement must see what was committed before the lock.
const BEGIN = { text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
// The timeout is set here, because PgBouncer refuses settings sent with a new connection.
const LOCK = {
  text: `SELECT set_config('idle_in_transaction_session_timeout', $3, true),
      ${takeTurn("$1", "$2")}`,
};
const COMMIT = { text: "COMMIT", commits: true };

/** Connects at the first statement. */
export function postgresConnections(
  address: PostgresAddress,
  options: PoolOptions,
) {
  const { queryTimeout, lockTimeout } = options;
  const pool = connectionPool(address, options);

  /** Lends a connection to `work`. If that fails, the connection is not used again. */
  async function once<T>(action: string, work: Work<T>): Promise<T> {
    const connection = await pool.take(action);

    const send: Send = async (
      statement,
      values = [],
      timeout = queryTimeout,
    ) => {
      const { name, text, commits: changes = false } = statement;
      const config = {
        text,
        values: [...values],
        rowMode: "array" as const,
        query_timeout: timeout,
        ...address.pgbouncer ? {} : { name },
      };
      const where = () => `${action} at ${describeHosts([connection])}`;
      try {
        const { rows } = await connection.query<unknown[]>(config);
        if (connection.warning === undefined) return rows;
      } catch (error) {
        if (isConnectionUseless(error)) pool.lose();
        throw statementFault(where(), error, { changes });
      }
      // The commit did not reach a standby: it is on one machine only.
      const error = new Error(connection.warning);
      throw statementFault(where(), error, { changes });
    };

    try {
      const result = await work(send);
      connection.release();
      return result;
    } catch (error) {
      connection.release(true);
      throw error;
    }
  }

  /**
   * Runs `work`. If it fails and `mayRepeat` allows it, runs it once more on another connection.
   */
  async function use<T>(
    action: string,
    work: Work<T>,
    mayRepeat: (error: unknown) => boolean,
  ): Promise<T> {
    try {
      return await once(action, work).catch((error) => {
        if (!mayRepeat(error)) throw error;
        return once(action, work);
      });
    } catch (error) {
      // A replaced primary still accepts connections, but statements there may wait for a standby
      // or a lock in vain. The caller does not wait for this check.
      if (error instanceof StorageError) void pool.look();
      throw error;
    }
  }

  return {
    /**
     * Sends a statement that changes nothing. If its connection fails, sends it once more on
     * another one. `queryTimeout` limits both attempts together.
     */
    read(
      action: string,
      statement: Statement,
      values?: readonly Value[],
    ): Promise<readonly Row[]> {
      /** When the result is due. Set when the statement is first sent. */
      let due: number | undefined;
      const work: Work<readonly Row[]> = (send) => {
        due ??= performance.now() + queryTimeout;
        return send(statement, values, Math.max(1, due - performance.now()));
      };
      return use(
        action,
        work,
        (error) =>
          due !== undefined && due - performance.now() >= 1 &&
          canBeRepeated(error),
      );
    },

    /** Sends a statement that changes something, in its own transaction. */
    write: (action: string, statement: Statement, values?: readonly Value[]) =>
      use(
        action,
        (send) => send({ ...statement, commits: true }, values),
        isUnsent,
      ),

    /**
     * Runs a transaction (`READ COMMITTED`) that holds the advisory lock `lock` from beginning to
     * end: of those with the same lock, one runs at a time. If its connection ended before a
     * statement could be sent, the transaction is run again from the beginning. The first run was
     * rolled back, even if that statement was COMMIT.
     */
    transaction: <T>(action: string, lock: bigint, work: Work<T>) =>
      use(action, async (send) => {
        await send(BEGIN);
        await send(LOCK, [`${lockTimeout}ms`, lock, `${queryTimeout}ms`]);
        // If this fails, the connection is closed, and the server rolls back.
        const result = await work(send);
        await send(COMMIT);
        return result;
      }, isUnsent),

    counts: pool.counts,

    close: pool.close,
  };
}

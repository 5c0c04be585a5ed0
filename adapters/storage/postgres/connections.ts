/** Reads, writes and transactions in PostgreSQL, each on a connection that a pool lends. */

import type pg from "pg";
import { describeHosts, type PostgresAddress } from "./address.ts";
import type { Connection } from "./client.ts";
import {
  canBeRepeated,
  isConnectionUseless,
  isReadOnly,
  isTimeout,
  isUnsent,
  statementFault,
} from "./fault.ts";
import { connectionPool, type PoolOptions } from "./pool.ts";
import { numbered, type Row, type Statement, type Value } from "./statement.ts";
import { turnSql } from "./turn.ts";

/** Sends a statement. */
export type Send = (
  statement: Statement,
  values?: readonly Value[],
  options?: SendOptions,
) => Promise<readonly Row[]>;

interface SendOptions {
  /** How long the result may take, in ms. Default: `queryTimeout`. */
  readonly timeout?: number;
  /** True if changes may be committed even though the result is lost. Default: false. */
  readonly commits?: boolean;
}

/** Work to do on one connection. */
type Work<T> = (send: Send) => Promise<T>;

export type PostgresConnections = ReturnType<typeof postgresConnections>;

// Explicit, whatever the default: each statement must see what was committed before the lock.
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";
// Sets the timeout here, because PgBouncer refuses settings sent with a new connection.
const KEEP_OPEN =
  "SELECT set_config('idle_in_transaction_session_timeout', ?, true)";
const takeTurn = (lock: bigint) => `${KEEP_OPEN}, ${turnSql(lock, "?")}`;

/** Makes a pool and what sends through it. Connects at the first statement. */
export function postgresConnections(
  address: PostgresAddress,
  options: PoolOptions,
) {
  const { queryTimeout, lockTimeout } = options;
  const pool = connectionPool(address, options);

  /** Sends a statement on a connection. */
  async function sendOn(
    connection: Connection,
    action: string,
    statement: Statement,
    values: readonly Value[],
    { timeout = queryTimeout, commits = false }: SendOptions,
  ): Promise<readonly Row[]> {
    // A query inherits from a prepared statement, because `pg` 8.23 takes long to copy its own
    // properties (`cloneQueryConfig` in its lib/utils.js). Without a name it must have its own:
    // OpenTelemetry may add a comment to a copy of them (`addSqlCommenterCommentToQueries`).
    const query: pg.QueryArrayConfig = typeof statement === "string"
      ? { text: numbered(statement), rowMode: "array" }
      : address.pgbouncer
      ? { text: statement.text, rowMode: "array" }
      : Object.create(statement);
    let cause: unknown;
    try {
      const { rows } = await connection.query(query, [...values], timeout);
      if (connection.warning === undefined) return rows;
      // The commit did not reach a standby: it is on one machine only. Thrown below, not here:
      // the connection is not lost.
      cause = new Error(connection.warning);
    } catch (error) {
      // A read that is repeated may have little time left, in which a good server need not answer.
      const isHasty = timeout < queryTimeout / 2 && isTimeout(error);
      const isLost = isConnectionUseless(error) && !isHasty ||
        address.writable && isReadOnly(error);
      if (isLost) pool.lose(connection);
      cause = error;
    }
    const where = `${action} at ${describeHosts([connection])}`;
    throw statementFault(where, cause, { commits });
  }

  /**
   * Runs `work` on a connection, which is closed if `work` fails. Then, if `mayRepeat` allows it, runs
   * it once more on another one.
   */
  async function run<T>(
    action: string,
    work: Work<T>,
    mayRepeat: (error: unknown) => boolean,
  ): Promise<T> {
    for (let isFirst = true;; isFirst = false) {
      const connection = await pool.take(action);
      try {
        const result = await work((statement, values = [], options = {}) =>
          sendOn(connection, action, statement, values, options)
        );
        pool.giveBack(connection);
        return result;
      } catch (error) {
        pool.giveBack(connection, true);
        if (!isFirst || !mayRepeat(error)) throw error;
      }
    }
  }

  return {
    /**
     * Sends a statement that changes nothing. If its connection fails, or a conflict with another
     * transaction ended it, and a tenth of `queryTimeout` is left, sends it once more on another one.
     * `queryTimeout` limits both attempts together, from when the statement is first sent, but not
     * the wait for another connection.
     */
    read(
      action: string,
      statement: Statement,
      values?: readonly Value[],
    ): Promise<readonly Row[]> {
      /** When the result is due. Set when the statement is first sent. */
      let due: number | undefined;
      /** The time that is left, in ms. */
      const rest = () => {
        const now = performance.now();
        due ??= now + queryTimeout;
        return Math.round(due - now);
      };
      return run(
        action,
        (send) => send(statement, values, { timeout: Math.max(1, rest()) }),
        (error) => rest() >= queryTimeout / 10 && canBeRepeated(error),
      );
    },

    /** Sends a statement that changes something, in its own transaction. */
    write: (action: string, statement: Statement, values?: readonly Value[]) =>
      run(
        action,
        (send) => send(statement, values, { commits: true }),
        isUnsent,
      ),

    /**
     * Runs a transaction (`READ COMMITTED`) that holds the advisory lock `lock` from beginning to
     * end: of those with the same lock, one runs at a time. If its connection ended before a
     * statement could be sent, the transaction is run again from the beginning. The first run was
     * rolled back, even if that statement was COMMIT.
     */
    transaction: <T>(action: string, lock: bigint, work: Work<T>) =>
      run(action, async (send) => {
        await send(BEGIN);
        await send(takeTurn(lock), [`${queryTimeout}ms`, `${lockTimeout}ms`]);
        // If this fails, the connection is closed, and the server rolls back.
        const result = await work(send);
        await send("COMMIT", [], { commits: true });
        return result;
      }, isUnsent),

    /** Runs a transaction that changes nothing, and sees the database as it was at its start. */
    snapshot: <T>(action: string, work: Work<T>) =>
      run(action, async (send) => {
        await send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        await send(KEEP_OPEN, [`${queryTimeout}ms`]);
        const result = await work(send);
        await send("COMMIT");
        return result;
      }, () => false),

    /** For a lock that another transaction holds, in ms. */
    lockTimeout,

    counts: pool.counts,

    close: pool.close,
  };
}

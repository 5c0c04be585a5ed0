/**
 * Statements and transactions in bounded time, with every fault in the words of the storage port.
 *
 * @module
 */

import type pg from "pg";
import { describeHosts, type PostgresAddress } from "./address.ts";
import {
  isConnectionLost,
  isNotReplicated,
  mayHaveHappened,
  type Notice,
  outcomeUnknown,
  statementFault,
} from "./fault.ts";
import { postgresPool, type Timeouts } from "./pool.ts";

/** A statement that the server prepares once for each connection. */
export interface Statement {
  /** Unique in this program. */
  readonly name: string;
  readonly text: string;
}

/** A parameter of a statement. */
export type Value = string | bigint | number | null | readonly Value[];

/** The columns of a row, in the order of the statement. */
export type Row = readonly unknown[];

/** Sends a statement. */
export type Send = (
  statement: Statement,
  values?: readonly Value[],
) => Promise<readonly Row[]>;

type Run = (action: string, ...args: Parameters<Send>) => ReturnType<Send>;

/** The connections to one database. */
export interface PostgresConnections {
  /** Sends a statement that changes nothing. */
  readonly read: Run;
  /** Sends a statement that changes something, in a transaction of its own. */
  readonly write: Run;
  /**
   * Runs a transaction (`READ COMMITTED`) that holds the advisory lock `lock` from beginning to end: of
   * those with the same lock, one runs at a time.
   */
  transaction<T>(
    action: string,
    lock: bigint,
    work: (send: Send) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

/**
 * To be selected by a transaction that writes: it waits for the disk even if the database is set not
 * to, and is warned if it did not wait for a standby.
 */
export const DURABLY = `CASE current_setting('synchronous_commit') WHEN 'off'
      THEN set_config('synchronous_commit', 'on', true) END,
    set_config('client_min_messages', 'warning', true)`;

// Whatever the database's default: each statement must see what was committed before the lock.
const BEGIN = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const COMMIT = { name: "commit", text: "COMMIT" };
// Set here because a pooler refuses settings that are sent with a new connection.
const LOCK = {
  name: "lock",
  text: `SELECT set_config('lock_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $2, true),
    ${DURABLY},
    pg_advisory_xact_lock($3)`,
};

/** Connects at the first statement. */
export function postgresConnections(
  address: PostgresAddress,
  timeouts: Timeouts,
): PostgresConnections {
  const pool = postgresPool(address, timeouts);
  const times = [`${timeouts.lockTimeout}ms`, `${timeouts.queryTimeout}ms`];

  async function query(
    client: pg.PoolClient,
    { name, text }: Statement,
    values: readonly Value[] = [],
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
      if (isConnectionLost(error)) pool.mistrust();
      throw error;
    }
  }

  /**
   * Lends a connection to `work`; if that fails, the connection is not used again.
   *
   * @param work is given two ways to send: `ask` changes nothing yet, `commit` does.
   */
  async function use<T>(
    action: string,
    work: (ask: Send, commit: Send) => Promise<T>,
  ): Promise<T> {
    const client = await pool.connect(action);
    const { host, port } = client;
    const actionAtHost = `${action} at ${describeHosts([{ host, port }])}`;

    const ask: Send = async (statement, values) => {
      try {
        return await query(client, statement, values);
      } catch (error) {
        throw statementFault(actionAtHost, error);
      }
    };

    const commit: Send = async (statement, values) => {
      let warning: string | undefined;
      function onNotice(notice: Notice): void {
        if (isNotReplicated(notice)) warning = notice.message;
      }
      client.on("notice", onNotice);
      let rows;
      try {
        rows = await query(client, statement, values);
      } catch (error) {
        throw mayHaveHappened(error)
          ? outcomeUnknown(actionAtHost, error)
          : statementFault(actionAtHost, error);
      } finally {
        client.off("notice", onNotice);
      }
      if (warning === undefined) return rows;
      throw outcomeUnknown(actionAtHost, new Error(warning));
    };

    // The statement under way fails too; without a listener the program would end.
    client.on("error", ignore);
    let fault: Error | undefined;
    try {
      return await work(ask, commit);
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.off("error", ignore);
      client.release(fault);
    }
  }

  return {
    read: (action, ...args) => use(action, (ask) => ask(...args)),

    write: (action, ...args) => use(action, (_, commit) => commit(...args)),

    transaction: (action, lock, work) =>
      use(action, async (ask, commit) => {
        await ask(BEGIN);
        await ask(LOCK, [...times, lock]);
        // If this fails, the connection is closed, and the server rolls back.
        const result = await work(ask);
        await commit(COMMIT);
        return result;
      }),

    close: () => pool.close(),
  };
}

function ignore(): void {}

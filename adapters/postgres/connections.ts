/**
 * Statements and transactions on connections to PostgreSQL: each in bounded time, and every fault in
 * the words of the storage port.
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

/** Makes no connection yet: the first statement does. */
export function postgresConnections(
  address: PostgresAddress,
  timeouts: Timeouts,
): PostgresConnections {
  const pool = postgresPool(address, timeouts);
  const { lockTimeout, queryTimeout } = timeouts;

  /** Lends a connection to `work`; where that fails, the connection is not used again. */
  async function use<T>(
    action: string,
    work: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T> {
    const client = await pool.connect(action);
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
      if (isConnectionLost(error)) pool.mistrust();
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

    close: () => pool.close(),
  };
}

/** An action, and the server that it was asked of. */
function at(action: string, { host, port }: pg.PoolClient): string {
  return `${action} at ${describeHosts([{ host, port }])}`;
}

function ignore(): void {}

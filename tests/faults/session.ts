/**
 * Another session on the database, which holds what the servers need.
 *
 * @module
 */

import { Client } from "pg";
import { PETS_LOCK } from "../../adapters/postgres/schema.ts";

/** A connection that a test holds. */
export interface Session {
  /** Runs one statement. */
  query(sql: string, values?: readonly unknown[]): Promise<void>;
  /** Runs one statement, and returns how many rows there were. */
  count(sql: string, values?: readonly unknown[]): Promise<number>;
  /** Takes the lock that creates take in turn: creates wait from now on. */
  holdCreates(): Promise<void>;
  /** Gives it back. */
  letCreatesGo(): Promise<void>;
  /** Ends the session, and gives back all that it holds. */
  end(): Promise<void>;
}

/** The part of a statement's text by which creates are known. */
export const CREATES = "INSERT INTO pets";

/** Connects; rejects where the server has no connection left. */
export async function openSession(url: string): Promise<Session> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
  });
  // What ends the connection rejects the statements as well.
  client.on("error", () => {});
  await client.connect();

  async function query(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<void> {
    await client.query(sql, [...values]);
  }

  return {
    query,
    async count(sql, values = []) {
      return (await client.query(sql, [...values])).rows.length;
    },
    holdCreates: () => query("select pg_advisory_lock($1)", [PETS_LOCK]),
    letCreatesGo: () => query("select pg_advisory_unlock($1)", [PETS_LOCK]),
    // After a crash there is nobody to say goodbye to.
    end: () => client.end().catch(() => {}),
  };
}

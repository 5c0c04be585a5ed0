/** The pool of connections to PostgreSQL: they go to the server in use. */

import process from "node:process";
import pg from "pg";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { clientsOf, type Connection } from "./client.ts";
import { areAllTaken, fault } from "./fault.ts";
import { hostInUse, type Standing, standingOf } from "./host_in_use.ts";
import { closedError } from "../pet_database.ts";

/** Time limits in ms, and more. */
export interface PoolOptions {
  /** For a connection at each server. */
  readonly connectTimeout: number;
  /** For a statement's result. */
  readonly queryTimeout: number;
  /** For another's lock. */
  readonly lockTimeout: number;
  /** Called with a sentence when another server is used from now on. */
  readonly onMove?: ((message: string) => void) | undefined;
}

// Whatever the database's default. Those of plans: seen in PostgreSQL 15 (its manual, `plan_cache_mode`);
// tests/adapters/storage/postgres/plans_slow.ts tells what can go.
export const SETTINGS = [
  // With another isolation, creates that take turns fail (40001).
  "-c default_transaction_isolation=read\\ committed",
  // Otherwise a prepared page may be planned each time, which takes longer than to read it.
  "-c plan_cache_mode=force_generic_plan",
  // The plan that is kept may be made while the table is empty: without this it would be to scan the table.
  "-c enable_seqscan=off",
  // A plan for any limit has to expect a large one, and would be compiled for it.
  "-c jit=off",
].join(" ");

/** Makes a pool, which connects when a connection is taken. It lends connections, each to be released. */
export function connectionPool(
  address: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout, onMove }: PoolOptions,
) {
  const { hosts, driver, writable } = address;
  /** The connections of the pool. */
  const open = new Set<Connection>();
  /** Those on which other hosts are asked. */
  const asking = new Set<Connection>();
  /** Set by `close()`. */
  let closed: Promise<void> | undefined;

  const settings = {
    ...driver,
    connectionTimeoutMillis: connectTimeout,
    query_timeout: queryTimeout,
    idleTimeoutMillis: 30_000,
    ...address.pgbouncer ? {} : {
      options: `${driver.options ?? process.env.PGOPTIONS ?? ""} ${SETTINGS}`,
      lock_timeout: lockTimeout,
      // Otherwise a statement that nobody waits for any more would keep its backend, while its connection is replaced.
      // It does not end a commit that waits for a standby: PostgreSQL has stopped this clock by then (seen in 15; the
      // test is tests/adapters/storage/postgres/faults_slow.ts).
      statement_timeout: queryTimeout + 500,
    },
    password: driver.password ?? environmentPassword,
    types: {
      // Without this an int8 is a string (the driver's document Data Types).
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8
          ? BigInt
          : pg.types.getTypeParser(oid, format as "text"),
    },
  };

  const server = hostInUse(address, askOnce, (message) => {
    mistrust();
    // Reads under way are sent again. No create waits any longer for what will not come.
    for (const connection of open) connection.cut();
    try {
      onMove?.(message);
    } catch { /* Nobody is left to be told. */ }
  });

  const pool = new pg.Pool({
    ...settings,
    Client: clientsOf(() => server.current ?? {}),
    onConnect: (client: pg.ClientBase) =>
      server.check((client as Connection).target, client),
  });
  pool.on("connect", (client: pg.PoolClient) => open.add(client as Connection));
  pool.on(
    "remove",
    (client: pg.PoolClient) => open.delete(client as Connection),
  );
  // The pool has dropped an idle connection that ended; nothing else is to be done. Without a listener the program
  // would end (the driver's document pg.Pool, `error`).
  pool.on("error", () => {});

  /** Lends no connection again that is open now: if one is lost, the others may hang. */
  function mistrust(): void {
    for (const connection of open) connection.isTrusted = false;
  }

  /** Asks a host for its standing, on a connection for this alone. */
  async function askOnce(host: PostgresHost): Promise<Standing> {
    const Client = clientsOf(() => host);
    const client = new Client({ ...settings, query_timeout: connectTimeout });
    asking.add(client);
    try {
      await new Promise<void>((resolve, reject) =>
        client.connect((error?: Error) => error ? reject(error) : resolve())
      );
      return await standingOf(client);
    } finally {
      asking.delete(client);
      client.end(() => {});
    }
  }

  async function end(): Promise<void> {
    for (const client of asking) client.cut();
    await pool.end();
  }

  /** Lends a connection that leads to the server in use. */
  async function connect(): Promise<Connection> {
    const client = await pool.connect() as Connection;
    if (client.isTrusted) return client;
    client.release(true);
    return await connect();
  }

  /** Lends a connection to the server in use, or to another one if that is lost. */
  async function connectToAny(): Promise<Connection> {
    const faults: unknown[] = [];
    const tried = server.current;
    try {
      if (tried !== undefined) return await connect();
    } catch (error) {
      if (hosts.length === 1 || areAllTaken(error)) throw error;
      faults.push(error);
    }
    // Others that failed at the same server may have moved already.
    if (server.current === tried) {
      faults.push(...await server.look({ isLost: true }));
    }
    if (server.current !== tried) return await connect();
    throw new AggregateError(faults, writable ? "no host accepts writes" : "");
  }

  return {
    /** Lends a connection. Nothing was sent if this rejects, with the fault of `action`. */
    async take(action: string): Promise<Connection> {
      if (closed !== undefined) throw closedError(action);
      try {
        const connection = await connectToAny();
        server.watch();
        return connection;
      } catch (error) {
        const where = `${action} at ${describeHosts(hosts)}`;
        throw fault("unavailable", where, error);
      }
    },

    mistrust,

    /** Looks for a server with a later timeline, after a failed write; never rejects. */
    look: () => server.look({ isLost: false }),

    /** Ends the connections, those that are lent once they are released. */
    close: () => closed ??= end(),
  };
}

/**
 * `pg` 8.23 itself would look for a file of passwords, and end the program on Deno if it may not read one
 * (`_getPassword` in its lib/client.js). Can go with `pg` 9, which will no longer look (same file).
 */
function environmentPassword(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it into the address, or into PGPASSWORD",
  );
}

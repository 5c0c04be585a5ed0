/** The pool of connections to PostgreSQL: they go to one of the servers of the address. */

import process from "node:process";
import pg from "pg";
import { closedError } from "../database/closed.ts";
import { describeHosts, type PostgresAddress } from "./address.ts";
import { clientsOf, type Connection } from "./client.ts";
import { areAllTaken, fault, WrongServer } from "./fault.ts";

/** Time limits, in ms: for a connection at each server, a statement's result, and another's lock. */
export interface Timeouts {
  readonly connectTimeout: number;
  readonly queryTimeout: number;
  readonly lockTimeout: number;
}

/** Lends connections, each to be released. */
export interface ConnectionPool {
  /** Lends a connection. Nothing was sent if this rejects, with the fault of `action`. */
  take(action: string): Promise<Connection>;
  /** Lends no connection again that is open now: if one is lost, the others may hang. */
  mistrust(): void;
  /** Ends the connections, those that are lent once they are released. */
  close(): Promise<void>;
}

// Whatever the database's default. With another isolation, creates that take turns fail (40001). Prepared
// pages would be planned each time, which takes longer than to read them. The plan that is kept must not be
// that of an empty table, which is scanned, nor one that is compiled because any limit may be a large one.
export const SETTINGS = [
  "-c default_transaction_isolation=read\\ committed",
  "-c plan_cache_mode=force_generic_plan",
  "-c enable_seqscan=off",
  "-c jit=off",
].join(" ");

/** Makes a pool, which connects when a connection is taken. */
export function connectionPool(
  address: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: Timeouts,
): ConnectionPool {
  const { hosts, driver } = address;
  /** The index of the server in use; it changes if no connection to that server can be made. */
  let current = 0;
  /** The connections that were made since one was last lost. */
  let trusted = new WeakSet<pg.PoolClient>();
  /** Set by `close()`. */
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
    onConnect: (client: pg.ClientBase) => assertUsable(client as Connection),
  });
  pool.on("connect", (client: pg.PoolClient) => trusted.add(client));
  // The pool has dropped an idle connection that ended; nothing else is to be done.
  pool.on("error", () => {});

  async function assertUsable(client: Connection): Promise<void> {
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
  }

  /** Lends a connection to the server in use. */
  async function connect(): Promise<Connection> {
    const client = await pool.connect();
    if (trusted.has(client)) return client as Connection;
    client.release(true);
    return await connect();
  }

  return {
    async take(action) {
      if (closed !== undefined) throw closedError(action);
      const faults: unknown[] = [];
      for (const _ of hosts) {
        const tried = current;
        try {
          return await connect();
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
    },

    mistrust: () => void (trusted = new WeakSet()),

    close: () => closed ??= pool.end(),
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

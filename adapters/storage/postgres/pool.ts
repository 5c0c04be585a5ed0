/**
 * The pool of connections to the PostgreSQL server in use.
 *
 * ```text
 *   connecting ──check──▶ in use ◀──▶ idle
 *       │                    │          │
 *       │                    └─ mistrusted (another connection was lost, or the host changed)
 *       ▼                            ▼
 *     closed ◀───────────────────────┘
 * ```
 *
 * - *Connecting*: to the host in use, which `host_in_use.ts` chooses. If that fails, the other
 *   hosts are checked. `check` refuses a server that must not be used.
 * - *In use*: lent for one statement or transaction; then *idle*, to be lent again.
 * - *Mistrusted*: when a lent connection is lost, the other open ones may be dead too. Each is
 *   closed instead of being lent again.
 * - *Moving* to another host: `host_in_use.ts` decides when, and to which; this file replaces the
 *   connections. All are mistrusted and cut at once. Reads under way are sent again, to the new
 *   host, and no create keeps waiting for a server that cannot commit it.
 */

import process from "node:process";
import { promisify } from "node:util";
import pg from "pg";
import { MAX_TIME } from "../../../core/options.ts";
import { report } from "../../../core/report.ts";
import { closedError, type PoolCounts } from "../pet_database.ts";
import {
  describeHosts,
  type PostgresAddress,
  type PostgresHost,
} from "./address.ts";
import { Connection } from "./client.ts";
import { areAllTaken, fault } from "./fault.ts";
import { hostInUse, type Standing, standingOf } from "./host_in_use.ts";

/** Time limits in ms, and a callback for moves. */
export interface PoolOptions {
  /** For a connection, at each server. */
  readonly connectTimeout: number;
  /** For the result of a statement. */
  readonly queryTimeout: number;
  /** For a lock that another transaction holds. */
  readonly lockTimeout: number;
  /** Called with a sentence when a different server is used from now on. */
  readonly onMove?: ((message: string) => void) | undefined;
}

// They override the database's defaults. PostgreSQL 15 needed those about plans (its manual,
// `plan_cache_mode`); tests/adapters/storage/postgres/plans_slow.ts shows which can
// go.
export const SETTINGS = [
  // With another isolation level, creates that take turns fail (40001).
  "-c default_transaction_isolation=read\\ committed",
  // Otherwise a page may be planned each time, which takes longer than reading it.
  "-c plan_cache_mode=force_generic_plan",
  // The cached plan may be made while the table is empty, and would scan the whole table.
  "-c enable_seqscan=off",
  // A plan for any limit must expect a large one, and would be JIT-compiled for it.
  "-c jit=off",
].join(" ");

/** Makes a pool, which connects when a connection is taken. Every one taken must be released. */
export function connectionPool(address: PostgresAddress, options: PoolOptions) {
  const { hosts, writable } = address;
  const settings = settingsOf(address, options);
  /** The connections of the pool. */
  const open = new Set<Connection>();
  /** Connections to other hosts, which are only asked for their standing. */
  const asking = new Set<Connection>();
  let lost = 0;
  /** Set by `close()`. */
  let closed: Promise<void> | undefined;

  const inUse = hostInUse(address, ask, move);
  class ToHostInUse extends Connection {
    constructor() {
      // None is made before a host is in use: see `connect`.
      super(settings, inUse.current as PostgresHost);
    }
  }
  const pool = new pg.Pool({
    ...settings,
    // `Connection` has only a part of the driver's type.
    Client: ToHostInUse as unknown as typeof pg.Client,
    onConnect: (client: object) => inUse.check(client as Connection),
  });
  pool.on("connect", (client: object) => open.add(client as Connection));
  pool.on("remove", (client: object) => open.delete(client as Connection));
  // An idle connection ended, and the pool dropped it. The others stay trusted: each that has
  // ended comes here too. Without a listener the program would end (the driver's document pg.Pool,
  // `error`).
  pool.on("error", () => lost++);

  /** Lends a connection to the server in use or, if that is lost, to another one. */
  async function connect(): Promise<Connection> {
    const tried = inUse.current;
    const faults: unknown[] = [];
    try {
      if (tried !== undefined) return await lend();
    } catch (error) {
      if (hosts.length === 1 || areAllTaken(error)) throw error;
      faults.push(error);
    }
    // Another call that failed at the same server may already have moved.
    if (inUse.current === tried) {
      faults.push(...await inUse.replace());
    }
    if (inUse.current !== tried) return await lend();
    throw new AggregateError(faults, writable ? "no host accepts writes" : "");
  }

  /** Lends an idle connection, or a new one; ends mistrusted ones. */
  async function lend(): Promise<Connection> {
    for (;;) {
      const connection = await pool.connect() as object as Connection;
      if (connection.isTrusted) return connection;
      connection.release(true);
    }
  }

  /** Stops reusing connections that are open now: if one is lost, the others may be dead too. */
  function mistrust(): void {
    for (const connection of open) connection.isTrusted = false;
  }

  function move(message: string): void {
    mistrust();
    for (const connection of open) connection.cut();
    // Its failure must not fail the call that noticed the move.
    report(() => options.onMove?.(message));
  }

  /** Asks a host for its standing, on a separate connection. */
  async function ask(host: PostgresHost): Promise<Standing> {
    if (closed !== undefined) throw closedError("ask another host");
    const client = new Connection(settings, host);
    asking.add(client);
    try {
      await promisify<void>((done) => client.connect(done))();
      return await standingOf(client);
    } finally {
      asking.delete(client);
      client.end(() => {});
    }
  }

  return {
    /** Lends a connection. Rejects with the fault of `action`; then nothing was sent. */
    async take(action: string): Promise<Connection> {
      if (closed !== undefined) throw closedError(action);
      inUse.watch();
      try {
        return await connect();
      } catch (error) {
        const where = `${action} at ${describeHosts(hosts)}`;
        throw fault("unavailable", where, error);
      }
    },

    /** Call it when a lent connection is lost: the others that are open may be dead too. */
    lose(): void {
      lost++;
      mistrust();
    },

    counts: (): PoolCounts => ({
      open: open.size,
      waiting: pool.waitingCount,
      lost,
    }),

    /** Call it when a statement failed: the server may have been replaced. */
    watch: inUse.watch,

    /** Closes the connections; lent ones are closed once they are released. */
    close(): Promise<void> {
      for (const client of asking) client.cut();
      return closed ??= pool.end();
    },
  };
}

/** Returns the driver's settings for each connection. */
function settingsOf(
  { driver, pgbouncer }: PostgresAddress,
  { connectTimeout, queryTimeout, lockTimeout }: PoolOptions,
) {
  // PgBouncer refuses settings sent with a new connection (see `IS_POOLER` in fault.ts).
  const direct = {
    options: `${driver.options ?? process.env.PGOPTIONS ?? ""} ${SETTINGS}`,
    lock_timeout: lockTimeout,
    // Otherwise a statement that nobody waits for any more would keep its backend busy after its
    // connection is replaced. This does not end a commit that waits for a standby: PostgreSQL has
    // stopped this timer by then (seen in 15; tested by
    // tests/adapters/storage/postgres/faults_slow.ts).
    statement_timeout: Math.min(queryTimeout + 500, MAX_TIME),
  };
  const types = new pg.TypeOverrides();
  // Without this an int8 is a string (the driver's document Data Types).
  types.setTypeParser(pg.types.builtins.INT8, BigInt);
  return {
    ...driver,
    connectionTimeoutMillis: connectTimeout,
    idleTimeoutMillis: 30_000,
    ...pgbouncer ? {} : direct,
    password: driver.password ?? environmentPassword,
    types,
  };
}

/**
 * Without this `pg` 8.23 would look for a password file, and on Deno end the program if it may not
 * read one (`_getPassword` in its lib/client.js). Can go with `pg` 9, which will no longer look for
 * it (same file).
 */
function environmentPassword(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it in the address, or in PGPASSWORD",
  );
}

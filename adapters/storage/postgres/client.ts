/**
 * A `pg` client that connects to a given host, limits the time of queries and of closing, and
 * records replication warnings.
 */

import pg from "pg";
import type { PostgresHost } from "./address.ts";
import { isNotReplicated, type Notice, WrongServer } from "./fault.ts";
import type { ClientSettings } from "./settings.ts";

/** How long to wait for a server to close a connection, in ms. */
const END_TIMEOUT = 1000;

type Result = pg.QueryArrayResult<unknown[]>;

/** The part of a connection's stream that the driver reads it by. */
interface DriverStream {
  on(event: string, listener: (data: unknown) => void): unknown;
}

/**
 * The part of the driver's connection that is used. Its events have the names of the server's
 * messages.
 */
interface DriverConnection {
  readonly stream: { destroy(): void };
  /** Reads messages from a stream. The driver has it, but its types do not. */
  attachListeners?: (stream: DriverStream) => void;
  on(
    event: string,
    listener: (message: { readonly mechanisms?: readonly string[] }) => void,
  ): this;
  emit(event: "error", error: unknown): unknown;
}

/** The part of the driver's client that is used, so that it has a type even without `@types/pg`. */
interface DriverClient {
  /** Those of the address, or the defaults. */
  readonly host: string;
  readonly port: number;
  readonly connection: DriverConnection;
  on(event: "error" | "end", listener: () => unknown): this;
  on(event: "notice", listener: (notice: Notice) => void): this;
  connect(): Promise<unknown>;
  query(query: object, values: unknown, callback: unknown): unknown;
  end(): Promise<unknown>;
}

const DriverClient: new (config: pg.ClientConfig) => DriverClient = pg.Client;

// The first is `on` for a standby too. The second is the same for poolers in front of one server.
const WHICH_SERVER = {
  text: `SELECT current_setting('transaction_read_only'),
    pg_catalog.concat(pg_postmaster_start_time())`,
  rowMode: "array",
};

/** A connection to one host. */
export class Connection extends DriverClient {
  readonly openedAt = performance.now();
  /** True once it is lost. */
  hasEnded = false;
  /** The server's warning, once received, that a commit is on one machine only. */
  warning: string | undefined;
  /** When it was last returned. Set by the pool. */
  usedAt = 0;
  readonly #timeout: number;
  /** Rejects the query under way. */
  #reject: ((error: Error) => void) | undefined;
  /** When its result is due. */
  #due = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer ends, if one is set. */
  #timerEnds = Infinity;

  constructor(settings: ClientSettings, host: PostgresHost) {
    super({ ...settings, ...host });
    this.#timeout = settings.connectionTimeoutMillis;
    this.on("notice", (notice) => {
      if (isNotReplicated(notice)) this.warning = `${notice.message}`;
    });
    // The statement under way fails anyway. Without a listener the program would end (the
    // driver's document pg.Client, `error`), even if the server closes the connection in the
    // packet that opens it.
    this.on("error", () => this.hasEnded = true);
    this.on("end", () => {
      this.hasEnded = true;
      clearTimeout(this.#timer); // otherwise it would keep the program running
    });
    catchReading(this.connection);
    if (settings.requireChannelBinding) refuseUnbound(this.connection);
  }

  /**
   * Connects. Rejects if it cannot, or if the server must accept writes, and does not; then call
   * `end`.
   *
   * @returns what identifies a server that must accept writes.
   */
  async open({ writable }: { readonly writable: boolean }): Promise<unknown> {
    await this.connect();
    if (!writable) return;
    const { rows: [row] } = await this.query(WHICH_SERVER, []);
    if (row?.[0] !== "off") throw new WrongServer("the server is read-only");
    return row[1];
  }

  /** Closes it at once. */
  cut(): void {
    this.connection.stream.destroy();
  }

  /**
   * Sends a query. Rejects after `timeout` ms; default: the connection timeout.
   *
   * Does what the driver's `query_timeout` and promise do, for which `pg` 8.23 assigns functions
   * to `query.callback` (`query()` in its lib/client.js). V8 allocates a function that is assigned
   * to a property among old objects (`CheckAssigningFunctionLiteralToProperty` in its
   * src/parsing/parser.h), where it keeps the rows until a major garbage collection: on Node 26
   * that was 3 to 4 KB of each request for a page, and a fifth of the memory under load.
   */
  override query(
    query: object,
    values: unknown,
    timeout = this.#timeout,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#due = performance.now() + timeout;
      this.#watch();
      super.query(query, values, (error: Error | null, result: Result) => {
        this.#reject = undefined;
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  /**
   * Sets a timer for the query under way, unless one that is set ends earlier. A timer serves all
   * queries of its time: on Node 26 one for each query took 6 µs, a twentieth of a read.
   */
  #watch(): void {
    if (this.hasEnded || this.#timerEnds <= this.#due) return;
    clearTimeout(this.#timer);
    this.#timerEnds = this.#due;
    this.#timer = setTimeout(() => {
      const isForEarlier = this.#due > this.#timerEnds;
      this.#timerEnds = Infinity;
      if (this.#reject === undefined) return;
      if (isForEarlier) return this.#watch();
      this.#reject(new Error("Query read timeout"));
    }, this.#due - performance.now());
  }

  /** Resolves when it has ended. */
  override end(): Promise<unknown> {
    // `pg` 8.23 waits for the server to close the connection (`end()` in its lib/client.js),
    // which a hanging server never does. Can go if tests/adapters/storage/postgres/close_slow.ts
    // passes without it.
    setTimeout(() => this.cut(), END_TIMEOUT).unref();
    return super.end();
  }
}

/**
 * If the driver throws while it parses a message, closes that connection instead of crashing the
 * process: `pg` 8.23 throws if the server asks for GSSAPI (`parseAuthenticationResponse` in dist/parser.js of
 * pg-protocol 1.16), and so does `refuseUnbound`. Can go, except for the latter, if
 * tests/adapters/storage/postgres/connections_test.ts passes without it.
 */
function catchReading(connection: DriverConnection): void {
  const attach = connection.attachListeners?.bind(connection);
  connection.attachListeners = (stream) =>
    attach?.({
      on: (event, listener) =>
        stream.on(event, (data) => {
          try {
            listener(data);
          } catch (error) {
            connection.emit("error", error);
          }
        }),
    });
}

/**
 * Throws, before a password is sent, if the server does not bind SCRAM to the encrypted channel.
 * Can go when the driver supports `channel_binding=require` (brianc/node-postgres#3746; not yet in
 * 8.23).
 */
function refuseUnbound(connection: DriverConnection): void {
  let isBound = false;
  const refuse = () => {
    throw new Error("the server does not support channel_binding=require");
  };
  connection
    .on("authenticationCleartextPassword", refuse)
    .on("authenticationMD5Password", refuse)
    .on("authenticationSASL", ({ mechanisms = [] }) => {
      if (!mechanisms.includes("SCRAM-SHA-256-PLUS")) refuse();
    })
    // The driver has checked that the server knows the password too.
    .on("authenticationSASLFinal", () => isBound = true)
    .on("authenticationOk", () => {
      if (!isBound) refuse();
    });
}

/**
 * The driver's client, where it would do otherwise than its users expect.
 *
 * @module
 */

import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import pg from "pg";
import type { PostgresHost } from "./address.ts";

/** How long a server may take to hang up, in ms. */
const GOODBYE = 1000;

/** The driver's own type says that a client is made from nothing; a pool gives it its settings. */
type PoolClientConstructor = new () => pg.Client;

/** Clients that connect to the server that is the current one when they are made. */
export function clientsAt(current: () => PostgresHost): PoolClientConstructor {
  class Client extends pg.Client {
    constructor(config: pg.ClientConfig) {
      // The pool hides the password from those who list its settings, and so from `...`.
      super({ ...config, password: config.password, ...current() });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(
      callback?: (error: Error) => void,
    ): Promise<pg.Client> | void {
      if (callback === undefined) return super.connect();
      try {
        super.connect(callback);
      } catch (error) {
        // Deno throws where it may not use a socket, and the pool would wait for this one for ever.
        this.connection.stream.destroy();
        callback(error as Error);
      }
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      // It says goodbye, and waits for the server to hang up; one that hangs never does.
      const timer = setTimeout(() => this.connection.stream.destroy(), GOODBYE);
      timer.unref();
      this.once("end", () => clearTimeout(timer));
      return callback === undefined ? super.end() : super.end(callback);
    }
  }
  return Client as unknown as PoolClientConstructor;
}

/** The driver would look for a file of passwords, and end the program where it may not. */
export function passwordOfEnvironment(): string {
  const { PGPASSWORD } = process.env;
  if (PGPASSWORD !== undefined) return PGPASSWORD;
  throw new Error(
    "the server asks for a password: put it into the address, or into PGPASSWORD",
  );
}

const INT8 = 20;

/** An int8 as bigint, where the driver would leave it a string; the rest as the driver has it. */
export function getTypeParser(
  oid: number,
  format?: "text" | "binary",
): (text: string) => unknown {
  return oid === INT8 ? BigInt : pg.types.getTypeParser(oid, format as "text");
}

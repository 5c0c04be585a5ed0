/** The driver's client, made to connect and to end in time. */

import { setTimeout } from "node:timers";
import pg from "pg";
import type { PostgresHost } from "./address.ts";

/** Time to wait for a server to close a connection, in ms. */
const END_TIMEOUT = 1000;

type Callback = (error: Error) => void;

/** The part of the driver's client that is used, so that it has a type without `@types/pg` too. */
interface DriverClient {
  readonly connection: { readonly stream: { destroy(): void } };
  connect(callback: Callback): void;
  end(callback?: Callback): Promise<unknown> | void;
}

const DriverClient: new (config: pg.ClientConfig) => DriverClient = pg.Client;

const targets = new WeakMap<object, PostgresHost>();

/** Returns the host that a client connects to. */
export function hostOf(client: object): PostgresHost | undefined {
  return targets.get(client);
}

/** Clients that connect to the current host, and whose faults and ends reach the pool in time. */
export function clientsOf(
  currentHost: () => PostgresHost,
): new () => pg.Client {
  class Client extends DriverClient {
    constructor(config: pg.ClientConfig) {
      const host = currentHost();
      // The pool makes the password non-enumerable, so `...` leaves it out.
      super({ ...config, password: config.password, ...host });
      targets.set(this, host);
    }

    override connect(callback: Callback): void {
      try {
        super.connect(callback);
      } catch (error) {
        // Deno throws if it may not use a socket, and the pool would wait for this client for ever.
        this.connection.stream.destroy();
        callback(error as Error);
      }
    }

    override end(callback?: Callback): Promise<unknown> | void {
      // The driver waits for the server to close the connection; one that hangs never does.
      const cut = () => this.connection.stream.destroy();
      setTimeout(cut, END_TIMEOUT).unref();
      return super.end(callback);
    }
  }
  // The driver's type omits the settings that the pool passes to a client.
  return Client as unknown as new () => pg.Client;
}

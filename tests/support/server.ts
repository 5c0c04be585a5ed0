/**
 * Services behind a server of this process, and the standalone service without one. All are closed
 * after the test.
 */

import type { Server as NodeServer } from "node:net";
import type { TestContext } from "node:test";
import type { ServeOptions, Server } from "../../adapters/http/server.ts";
import { readConfig } from "../../adapters/standalone/config.ts";
import { openService } from "../../adapters/standalone/service.ts";
import { loadServe } from "../../adapters/standalone/start.ts";
import type { PetDatabase } from "../../adapters/storage/pet_database.ts";
import { type Handler, toHandler } from "../../core/handler.ts";
import type { OpenService } from "../contract/ask.ts";
import { atEnd } from "./at_end.ts";
import { portOf } from "./process.ts";

/** A service for `ask`, with paths such as `/v1/pets`. */
type Asked = Pick<OpenService, "fetch" | "base" | "key">;

/** Serves a handler on any port of this machine. */
export async function listen(
  t: TestContext,
  handle: Handler,
  options: ServeOptions = {},
): Promise<Server & Asked> {
  const serve = await loadServe();
  const server = await serve(handle, { port: 0, ...options });
  atEnd(t, () => server.close());
  return { ...server, fetch, base: server.url, key: "secret" };
}

/**
 * Opens the service of the standalone server. Its pets are in memory, unless settings say otherwise
 * or a storage is given.
 */
export async function openStandalone(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
  storage?: PetDatabase,
): Promise<
  Awaited<ReturnType<typeof openService>> & Asked & {
    readonly handle: Handler;
    /** Closes its storage; it is closed after the test anyway. */
    readonly close: () => unknown;
  }
> {
  const config = readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "secret",
    REQUEST_LOG: "off",
    ...settings,
  });
  /** The last one first. */
  const closes: (() => unknown)[] = [];
  const close = async () => {
    for (const closePart of closes.splice(0)) await closePart();
  };
  atEnd(t, close);
  const life = {
    async open<T>(opening: Promise<T>, closePart: (part: T) => unknown) {
      const part = await opening;
      closes.unshift(() => closePart(part));
      return part;
    },
    atEnd: (closePart: () => unknown) => void closes.unshift(closePart),
    fail(cause: unknown): void {
      throw cause;
    },
  };
  const open = storage && (async () => storage);
  const service = await openService(config, life, open);
  const base = "http://localhost";
  const handle = toHandler(service.answer);
  return { ...service, handle, fetch: handle, base, key: "secret", close };
}

/** Makes a Node server listen on any port, which is returned. */
export async function listenOn(
  t: TestContext,
  server: NodeServer,
): Promise<number> {
  // No connection is left open.
  atEnd(t, () => new Promise((closed) => server.close(closed)));
  return await portOf(server);
}

/**
 * The standalone server as a default export with `fetch`, for `deno serve` and Bun. The environment sets
 * it up, as it does `main.ts`; `deno serve` has the address from its flags or `DENO_SERVE_ADDRESS`.
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { responder } from "../../core/http/message.ts";
import { reportAndExit } from "./command_line.ts";
import { type BunServer, closeBunServer } from "../http/bun/close.ts";
import { type Config, readConfig } from "./config.ts";
import { type OpenService, openService } from "./service.ts";
import { stopOnSignal } from "./shutdown.ts";
import { joinWorkers } from "./workers.ts";

/** What Deno and Bun pass to `fetch` in addition to the request: Deno, when the response is sent. */
type FetchInfo = { readonly completed: Promise<unknown> } | BunServer;

const config: Config = await Promise.try(readConfig, process.env)
  .catch(reportAndExit);
const workers = joinWorkers();

/** Unset until it is open: a signal may come before. */
let service: OpenService | undefined;
/** Deno's responses that are not sent yet: a process that ends when an answer is made would not send it. */
const sending = new Set<Promise<unknown>>();
/** Bun's server, which comes with every request. */
let bunServer: BunServer | undefined;

const { stop } = stopOnSignal({
  async finish() {
    // What is still being opened must be closed too, or SQLite's log stays; but nobody waits for PostgreSQL.
    await Promise.race([opening, delay(1000)]);
    await service?.drain();
    await Promise.allSettled(sending);
    if (bunServer !== undefined) await closeBunServer(bunServer);
    // Deno 2.9's `completed` settles just before a whole body is sent (`fastSyncResponseOrStream` in its
    // ext/http/00_serve.ts). Can go if a program that exits in `info.completed.then` loses no response (seen: lost in 24 of 24).
    await delay(50);
  },
  async close() {
    await service?.close();
    await workers.leave();
  },
  timeout: config.shutdownTimeout,
});
workers.othersLeave.then(stop);

const opening = openService(config);
const { answer, greet } = service = await opening.catch(reportAndExit);
const respond = responder(answer);

const server = {
  // `deno serve` takes `fetch` and `onListen` only; the rest is for Bun, as in `../http/bun/mod.ts`.
  hostname: config.host,
  port: config.port,
  development: false,
  reusePort: false,
  idleTimeout: 30,
  maxRequestBodySize: 1024 * 1024,

  fetch(request: Request, info?: FetchInfo): Promise<Response> {
    if (info !== undefined && "stop" in info) bunServer = info;
    else if (info !== undefined) {
      const { completed } = info;
      const forget = () => sending.delete(completed);
      sending.add(completed);
      completed.then(forget, forget);
    }
    return respond(request, info);
  },

  /** Deno calls it, in one worker only, once the server listens; without `hostname` if that is not on TCP. */
  onListen(
    { hostname, port }: { readonly hostname?: string; readonly port: number },
  ): void {
    if (hostname === undefined) {
      reportAndExit(new Error("DENO_SERVE_ADDRESS must be a TCP address"));
    }
    greet({ hostname, port }).catch(reportAndExit);
  },
};

// Bun 1.4 listens as soon as this module is loaded, and has no `onListen` (its document Server, "export default").
if ("Bun" in globalThis) setImmediate(() => server.onListen(server));

export default server;

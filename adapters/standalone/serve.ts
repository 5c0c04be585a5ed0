/**
 * The standalone server as a default export with `fetch`, for `deno serve` and Bun. The environment sets
 * it up, as it does `main.ts`; `deno serve` has the address from its flags or `DENO_SERVE_ADDRESS`.
 */

import process from "node:process";
import { responder } from "../../core/http/message.ts";
import { type Config, readConfig } from "./config.ts";
import { reportAndExit } from "./command_line.ts";
import { type OpenService, openService } from "./service.ts";
import { stopOnSignal } from "./shutdown.ts";

/** The info that Deno and Bun pass to `fetch` in addition to the request. */
interface FetchInfo {
  /** Deno: settles when the response is sent. */
  readonly completed?: Promise<unknown>;
  /** Bun: stops listening and settles when what is in flight is sent. */
  stop?(): Promise<void>;
}

const config: Config = await Promise.try(readConfig, process.env)
  .catch(reportAndExit);
let opened: OpenService | undefined;
/** What came with the first request: on Bun it stops the server. */
let first: FetchInfo | undefined;
/** Deno's responses on their way: a process that ends when an answer is made would not send it. */
const sending = new Set<Promise<unknown>>();

const { stop } = stopOnSignal({
  async finish() {
    await opened?.drain();
    await Promise.allSettled(sending);
    await first?.stop?.();
    // Deno's `completed` settles just before the last bytes of the response are on their way.
    await new Promise((resolve) => setTimeout(resolve, 50));
  },
  async close() {
    await opened?.close();
    await othersDone();
  },
  timeout: config.shutdownTimeout,
});
const othersDone = joinWorkers(stop);
const service: OpenService = opened = await openService(config)
  .catch(reportAndExit);

/**
 * Makes this worker of `deno serve --parallel` known to the others. The first that exits ends the process
 * for all: so they wait for each other.
 *
 * @param onEnding called when another worker is done: one that was loading missed the signal.
 * @returns a function that says that this worker is done, and settles when all the others are too.
 */
function joinWorkers(onEnding: () => void): () => Promise<void> {
  const own = { worker: crypto.randomUUID(), done: false };
  const others = new Map<string, boolean>();
  const all = Promise.withResolvers<void>();
  const channel = new BroadcastChannel("petstore workers");
  const announce = () => channel.postMessage(own);
  const check = () => {
    if (own.done && others.values().every((done) => done)) all.resolve();
  };

  channel.onmessage = ({ data }: MessageEvent<typeof own>) => {
    if (!others.has(data.worker)) announce(); // a newcomer does not know this worker yet
    others.set(data.worker, data.done);
    if (data.done) onEnding();
    check();
  };
  announce();

  return () => {
    own.done = true;
    announce();
    check();
    return all.promise;
  };
}

const respond = responder(service.answer);
const server = {
  // Deno takes `fetch` and `onListen` only; the rest is for Bun, as in `../bun/mod.ts`.
  hostname: config.host,
  port: config.port,
  development: false,
  reusePort: false,
  idleTimeout: 30,
  maxRequestBodySize: 1024 * 1024,
  fetch(request: Request, info?: FetchInfo): Promise<Response> {
    first ??= info;
    const completed = info?.completed;
    if (completed !== undefined) {
      const done = () => sending.delete(completed);
      sending.add(completed);
      completed.then(done, done);
    }
    return respond(request, info);
  },
  /** Deno calls it, in one worker only, once the server listens. */
  onListen(
    address: { readonly hostname: string; readonly port: number },
  ): void {
    service.greet(address).catch(reportAndExit);
  },
};

// Bun listens as soon as this module is loaded, and has no `onListen`.
if ("Bun" in globalThis) setImmediate(() => server.onListen(server));

export default server;

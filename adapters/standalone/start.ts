/** The command `start`: opens the service, listens on each runtime, and ends in order. */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { toHandler } from "../../core/kit.ts";
import type { Server } from "../http/server.ts";
import {
  parseArguments,
  PROGRAM,
  UsageError,
} from "../program/command_line.ts";
import { check, readHost, readPort } from "../program/values.ts";
import { type Config, readConfig, SETTINGS } from "./config.ts";
import { greet } from "./greet.ts";
import { finish, live } from "./life.ts";
import { logFault } from "./log.ts";
import { standardError } from "./output.ts";
import { type OpenService, openService } from "./service.ts";

/** How long Deno may take to send the last answers, in ms. */
const CLOSING_TIME = 1000;
/** How long requests on the admin port may take to finish at the end, in ms. */
const ADMIN_TIME = 1000;

const HELP = `start: runs the server

Usage:    ${PROGRAM} start [--host HOST] [--port PORT]
Example:  ${PROGRAM} start --port 9000

  --host HOST    the address to listen on (127.0.0.1; 0.0.0.0 means every address of this machine)
  --port PORT    the port to listen on (8000; 0 means any free port)

Settings in the environment, with their defaults:

${SETTINGS}`;

/** Runs the command with the arguments that follow `start`. */
export async function runStart(args: readonly string[]): Promise<void> {
  const { values } = parseArguments(args, {
    host: { type: "string" },
    port: { type: "string" },
  });
  if (values.help) return void process.stdout.write(HELP);
  const config = readConfig(process.env);
  const { host = config.host, port = `${config.port}` } = values;
  const options = {
    hostname: check("--host", () => readHost(host), UsageError),
    port: check("--port", () => readPort(port), UsageError),
    onError: (error: unknown) => logFault(error),
    ...ofRuntime(config),
  };
  const serve = await loadServe();
  await live(async (life) => {
    const service = await openService(config, life);
    const { shutdownDelay, shutdownTimeout } = config;
    if (config.admin !== undefined) {
      const { hostname = options.hostname, port } = config.admin;
      const listening = serve(toHandler(service.admin), {
        ...options,
        hostname,
        port,
      }).catch((cause: Error) => {
        const hint = "change ADMIN_PORT or ADMIN_HOST";
        throw new Error(`${cause.message}; ${hint}`, { cause });
      });
      const close = (admin: Server) => finish(admin.close(), ADMIN_TIME);
      const { url } = await life.open(listening, close);
      standardError.write(`The probes and metrics are at ${url}\n`);
    }
    const listener = await life.open(
      serve(toHandler(service.answer), options),
      (listener) => finish(endServing(listener, service), shutdownTimeout),
    );
    life.atEnd(async (signal) => {
      // Load balancers need time to notice; people at a terminal do not.
      if (signal === undefined || signal === "SIGINT") return;
      service.leave();
      await delay(shutdownDelay);
    });
    await greet(listener, service);
  });
}

/** Resolves once all requests are answered in full. New ones are refused. */
async function endServing(
  listener: Server,
  service: OpenService,
): Promise<void> {
  const drained = service.drain();
  if ("Deno" in globalThis) {
    // While Deno's server closes, it refuses requests itself, without the service's fields and
    // without a log line.
    await drained;
    // Deno 2.9 would wait for clients that were answered before they sent their whole body, for as
    // long as they like. It does not tell them from clients that are slow to read.
    await Promise.race([listener.close(), delay(CLOSING_TIME)]);
    return;
  }
  // On Bun and Node the listener closes while the last requests are answered.
  await Promise.all([drained, listener.close()]);
}

/** The options that `serve` has on this runtime alone. */
function ofRuntime({ maxBodyBytes }: Config) {
  if ("Deno" in globalThis) return {};
  // Bun's limit is set above the service's, because Bun's own 413 has no Error body.
  if ("Bun" in globalThis) {
    return { maxRequestBodySize: maxBodyBytes + 1_048_576 };
  }
  // Longer than balancers keep idle connections, which is 60 s for most: if the server closes one
  // first, a request may be on its way, and the balancer answers it 502.
  return { keepAliveTimeout: 65_000 };
}

/** Loads the `serve` of the runtime that this program runs on, and no other. */
export async function loadServe() {
  if ("Deno" in globalThis) return (await import("../http/deno/mod.ts")).serve;
  if ("Bun" in globalThis) return (await import("../http/bun/mod.ts")).serve;
  return (await import("../http/node/mod.ts")).serve;
}

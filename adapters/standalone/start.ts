/** The command `start`: listens, on each runtime, and runs the service of `prepare_service.ts`. */

import process from "node:process";
import { toHandler } from "../../core/http/fetch_handler.ts";
import { parseArguments, PROGRAM, UsageError } from "./command_line.ts";
import { check, readConfig, readHost, readPort, SETTINGS } from "./config.ts";
import { logFault } from "./log.ts";
import { giveBackPermissions } from "./open_storage.ts";
import { standardError } from "./output.ts";
import { prepareService } from "./prepare_service.ts";

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
    // Bun's own 413 has no body, so its limit is above that of the service, whose 413 has one.
    ..."Bun" in globalThis &&
      { maxRequestBodySize: config.maxBodyBytes + 1_048_576 },
  };
  const service = prepareService(config, {
    // Never called before the service is open, so `listener` and `admin` are set.
    async endServing(drained) {
      // While Deno's server closes, it refuses requests itself, without the service's fields and
      // without a log line.
      if ("Deno" in globalThis) await drained;
      // On Bun and Node the listener closes while the last requests are answered.
      await Promise.all([drained, listener.close()]);
      await admin?.close();
    },
  });
  const serve = await loadServe();
  // Before the storage is opened, so that a port in use leaves no database file behind.
  const listener = await serve(toHandler(service.answer), options);
  const admin = config.admin && await serve(toHandler(service.admin), {
    ...options,
    hostname: config.admin.hostname ?? options.hostname,
    port: config.admin.port,
  }).catch((cause: Error) => {
    const hint = "change ADMIN_PORT or ADMIN_HOST";
    throw new Error(`${cause.message}; ${hint}`, { cause });
  });
  if (!await service.open()) return;
  await giveBackPermissions(config.database);
  if (admin !== undefined) {
    standardError.write(`The probes and metrics are at ${admin.url}\n`);
  }
  await service.greet(listener);
}

/** Loads the `serve` of the runtime that this program runs on, and no other. */
export async function loadServe() {
  if ("Deno" in globalThis) return (await import("../http/deno/mod.ts")).serve;
  if ("Bun" in globalThis) return (await import("../http/bun/mod.ts")).serve;
  return (await import("../http/node/mod.ts")).serve;
}

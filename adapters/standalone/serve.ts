/**
 * The standalone server for `deno serve`: a default export with `fetch`. The address comes from its
 * flags or `DENO_SERVE_ADDRESS`, everything else from the environment. Bun and Node have
 * `main.ts start`.
 *
 * @module
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { respond } from "../../core/http/fetch_handler.ts";
import { reportAndExit } from "./command_line.ts";
import { readConfig } from "./config.ts";
import { prepareService } from "./prepare_service.ts";
import { joinWorkers } from "./workers.ts";

/** Makes the server of one worker. */
async function prepareWorker(): Promise<Deno.ServeDefaultExport> {
  if (!("Deno" in globalThis)) {
    throw new Error(
      "Cannot start: serve.ts is for deno serve. Use main.ts start",
    );
  }
  const config = readConfig(process.env);
  if (config.shutdownDelay > 0) {
    throw unsupported("SHUTDOWN_DELAY", "deno serve stops listening at once");
  }
  if (config.admin !== undefined) {
    throw unsupported("ADMIN_PORT", "deno serve listens on one port");
  }
  const workers = joinWorkers();
  /** Responses that have not been sent: they would be lost if the process ended. */
  const sending = new Set<Promise<unknown>>();

  const service = prepareService(config, {
    async endServing(drained) {
      await drained;
      await Promise.allSettled(sending);
      // Deno 2.9's `completed` settles just before a whole body is sent (`fastSyncResponseOrStream`
      // in its ext/http/00_serve.ts). Can go if a program that exits in `info.completed.then` loses
      // no response (seen: lost in 24 of 24).
      await delay(50);
    },
    awaitOthers: workers.leave,
  });
  workers.anotherLeaves.then(() => service.stop());
  // Without `giveBackPermissions`: workers share their permissions, and others may still be
  // opening.
  service.open().catch(reportAndExit);

  return {
    fetch(request, info) {
      const { completed } = info;
      const forget = () => sending.delete(completed);
      sending.add(completed);
      completed.then(forget, forget);
      return respond(service.answer, request, info);
    },

    // Called in one worker only.
    onListen(address) {
      if (address.transport !== "tcp") {
        reportAndExit(
          new Error("Cannot read DENO_SERVE_ADDRESS: it must be a TCP address"),
        );
      }
      service.greet(address).catch(reportAndExit);
    },
  };
}

function unsupported(setting: string, reason: string): Error {
  return new Error(
    `Cannot read ${setting}: ${reason}. Unset it, or use main.ts start`,
  );
}

/** The server of one worker. */
export default await prepareWorker()
  .catch(reportAndExit) as Deno.ServeDefaultExport;

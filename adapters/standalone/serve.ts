/**
 * The standalone server for `deno serve`: a default export with `fetch`. The address comes from its
 * flags or `DENO_SERVE_ADDRESS`, everything else from the environment. Bun and Node have
 * `main.ts start`.
 *
 * @module
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { respond } from "../../core/kit.ts";
import { reportAndExit } from "../program/command_line.ts";
import { readConfig } from "./config.ts";
import { greet } from "./greet.ts";
import { finish, live } from "./life.ts";
import { openService } from "./service.ts";

/** Opens the service, before `deno serve` listens. */
async function begin(): Promise<Deno.ServeDefaultExport> {
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
  return await live(async (life) => {
    const service = await openService(config, life);
    /** Responses that have not been sent: they would be lost if the process ended. */
    const sending = new Set<Promise<unknown>>();

    async function endServing(): Promise<void> {
      // At once: `deno serve` cuts bodies short when the signal comes, and such requests are
      // answered with 503 only if the service already drains.
      await service.drain();
      await Promise.allSettled(sending);
      // Deno 2.9's `completed` settles just before a whole body is sent (`fastSyncResponseOrStream`
      // in its ext/http/00_serve.ts). Can go if a program that exits in `info.completed.then` loses
      // no response (seen: lost in 24 of 24).
      await delay(50);
    }

    life.atEnd(() => finish(endServing(), config.shutdownTimeout));

    return {
      fetch(request, info) {
        const { completed } = info;
        const forget = () => sending.delete(completed);
        sending.add(completed);
        completed.then(forget, forget);
        return respond(service.answer, request, info);
      },

      // With `--parallel`, called in one worker only.
      onListen(address) {
        if (address.transport === "tcp") {
          greet(address, service).catch(life.fail);
        } else {
          life.fail(
            new Error(
              "Cannot read DENO_SERVE_ADDRESS: it must be a TCP address",
            ),
          );
        }
      },
    };
  });
}

function unsupported(setting: string, reason: string): Error {
  return new Error(
    `Cannot read ${setting}: ${reason}. Unset it, or use main.ts start`,
  );
}

/** The server. */
export default await begin()
  .catch(reportAndExit) as Deno.ServeDefaultExport;

/**
 * Which runtime this is, and the adapter that goes with it. Only that one is loaded.
 *
 * @module
 */

import type { ResponseConstructor } from "../../core/http/reply.ts";
import type { ServeOptions, Server } from "../serve/server.ts";

/** What a runtime brings. */
export interface Runtime {
  readonly serve: (
    handle: (request: Request) => Response | Promise<Response>,
    options: ServeOptions,
  ) => Promise<Server>;
  readonly Response: ResponseConstructor;
}

/** Loads the adapter of the runtime that this program runs on. */
export async function loadRuntime(): Promise<Runtime> {
  if ("Deno" in globalThis) {
    return { ...await import("../deno/mod.ts"), Response };
  }
  if ("Bun" in globalThis) {
    return { ...await import("../bun/mod.ts"), Response };
  }
  const { serve, NodeResponse } = await import("../node/mod.ts");
  return { serve, Response: NodeResponse };
}

/**
 * Which runtime this is, and the adapter that goes with it. Only that one is loaded.
 *
 * @module
 */

import type { ResponseConstructor } from "../../core/reply.ts";
import type { ServeOptions, Server } from "../http/server.ts";

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
    return { ...await import("../http/deno.ts"), Response };
  }
  if ("Bun" in globalThis) {
    return { ...await import("../http/bun.ts"), Response };
  }
  const { serve, NodeResponse } = await import("../http/node.ts");
  return { serve, Response: NodeResponse };
}

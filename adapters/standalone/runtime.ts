/**
 * The `serve` of the runtime that this program runs on. Only that adapter is loaded.
 *
 * @module
 */

import type { FetchFunction, ServeOptions, Server } from "../serve/server.ts";

/** What every runtime's adapter exports. */
export type Serve = (
  handle: FetchFunction,
  options: ServeOptions,
) => Promise<Server>;

/** Loads the adapter. */
export async function loadServe(): Promise<Serve> {
  if ("Deno" in globalThis) return (await import("../deno/mod.ts")).serve;
  if ("Bun" in globalThis) return (await import("../bun/mod.ts")).serve;
  return (await import("../node/mod.ts")).serve;
}

/**
 * The server of Deno or Bun itself, for contestants that are fetch functions.
 *
 * @module
 */

import { HOST, PORT } from "./settings.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

interface BunRuntime {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly fetch: Fetch;
  }): unknown;
}

/** Whether this is Deno or Bun. */
export const HAS_FETCH_SERVER = "Deno" in globalThis || "Bun" in globalThis;

/** Listens where the bench says. */
export function listen(fetch: Fetch): void {
  const address = { port: PORT, hostname: HOST };
  if ("Deno" in globalThis) {
    Deno.serve({ ...address, onListen: () => {} }, fetch);
  } else {
    const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
    Bun.serve({ ...address, fetch });
  }
}

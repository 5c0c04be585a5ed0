/** A server on the runtime that runs the tests. @module */

import type {
  FetchFunction,
  ServeOptions,
  Server,
} from "../../../adapters/serve/server.ts";

const runtime = "Deno" in globalThis
  ? "deno"
  : "Bun" in globalThis
  ? "bun"
  : "node";
const { serve }: {
  serve(handle: FetchFunction, options: ServeOptions): Promise<Server>;
} = await import(`../../../adapters/${runtime}/mod.ts`);

/** Listens with a fetch function while a test runs. */
export async function serving(
  handle: FetchFunction,
  check: (baseUrl: string) => Promise<void>,
): Promise<void> {
  const server = await serve(handle, { port: 0, onError: () => {} });
  try {
    await check(`${server.url}/v1`);
  } finally {
    await server.close();
  }
}

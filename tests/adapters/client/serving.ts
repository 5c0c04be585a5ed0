/** A server on the runtime that runs the tests. */

import type { FetchFunction } from "../../../adapters/serve/server.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";

/** Listens with a fetch function while a test runs. */
export async function serving(
  handle: FetchFunction,
  check: (baseUrl: string) => Promise<void>,
): Promise<void> {
  const serve = await loadServe();
  const server = await serve(handle, { port: 0, onError: () => {} });
  try {
    await check(`${server.url}/v1`);
  } finally {
    await server.close();
  }
}

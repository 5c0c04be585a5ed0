/** The end of Bun's server. */

/** The part of Bun's server that is used, because other type checkers lack its types. */
export interface BunServer {
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** Pause between two looks of a closing server at its open requests, in ms. */
const CLOSING_INTERVAL = 10;

/**
 * Stops listening; fulfilled once every request is answered in full. Bun's `stop()` alone waits for clients
 * that have sent half a request, and for ever (seen in Bun 1.4.5; oven-sh/bun#37074 means it to). `stop(true)`
 * alone would cut off answers. Can go if tests/adapters/http/fetch_server_test.ts passes on Bun with `stop()` alone.
 */
export async function closeBunServer(server: BunServer): Promise<void> {
  const stopped = server.stop();
  while (server.pendingRequests > 0) {
    await new Promise((resolve) => setTimeout(resolve, CLOSING_INTERVAL));
  }
  await server.stop(true);
  await stopped;
}

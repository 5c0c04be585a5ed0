/** Ports for servers that are started again on the port they had. @module */

import { createServer } from "node:net";

// Below the ports that Linux gives to clients (32768 and up): one of those may be a client's by the time
// a server returns, and a client that knocks at a closed port of that range can even meet itself.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A TCP port of 127.0.0.1 that nobody listens on just now, and that no client will be given. */
export async function serverPort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

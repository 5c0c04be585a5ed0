/** TCP ports of 127.0.0.1. */

import { type AddressInfo, createServer, type Server } from "node:net";

// Below the ports that Linux gives to clients (32768 and up): one of those may be a client's by the time
// a server returns, and a client that knocks at a closed port of that range can even meet itself.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Has a server listen on any port, and returns that. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A port that nobody listens on just now, and that no client will be given. */
export async function freePort(): Promise<number> {
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

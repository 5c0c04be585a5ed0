/**
 * Waiting for a server.
 *
 * @module
 */

import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const LONGEST_START = 20_000; // ms

/**
 * Resolves once somebody listens on a port of 127.0.0.1, after a request with the first bytes of the
 * answer.
 */
export async function listening(port: number, request = ""): Promise<string> {
  const end = performance.now() + LONGEST_START;
  while (performance.now() < end) {
    const answer = await attempt(port, request);
    if (answer !== undefined) return answer;
    await delay(1);
  }
  throw new Error(`Nothing listens on port ${port}`);
}

function attempt(port: number, request: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      if (request === "") return end("");
      socket.write(request);
    });
    function end(answer: string): void {
      resolve(answer);
      socket.destroy();
    }
    socket.once("data", (bytes) => end(String(bytes)));
    socket.on("error", () => {}); // it is closed as well
    socket.once("close", () => resolve(undefined));
  });
}

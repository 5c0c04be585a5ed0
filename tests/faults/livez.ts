/** How long a server keeps another client waiting while something is done to it. */

import { Wire } from "../contract/wire.ts";

const ASK = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
const PAUSE = 10;

/**
 * Asks for `/livez` again and again on one connection while `work` goes on.
 *
 * @returns the longest that an answer took, in whole ms.
 */
export async function longestLivez(
  port: number,
  work: () => Promise<void>,
): Promise<number> {
  const wire = await Wire.open(port);
  let isOver = false;
  let longest = 0;
  const working = work().finally(() => isOver = true);
  try {
    while (!isOver) {
      const start = performance.now();
      wire.write(ASK);
      const { status } = await wire.answer();
      if (status !== 200) throw new Error(`/livez is ${status}`);
      longest = Math.max(longest, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  } finally {
    await working;
    wire.close();
  }
  return Math.round(longest);
}

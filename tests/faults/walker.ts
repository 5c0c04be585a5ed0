/**
 * A reader that follows the animals: it walks to the last page, and goes on from there for more.
 *
 * @module
 */

import { createClient } from "../../adapters/client/mod.ts";
import type { Target } from "./load.ts";

/** A walk under way. */
export interface Walker {
  /** Walks to the last page once more, and returns all ids that it has seen. */
  finish(): Promise<ReadonlySet<bigint>>;
}

/** Begins at the first animal. What goes wrong on the way is told by {@linkcode Walker.finish}. */
export function startWalk({ origin, key }: Target): Walker {
  const client = createClient({ baseUrl: `${origin}/v1`, key });
  const seen = new Set<bigint>();
  let last = 0n;
  let isOver = false;

  /** What has an id below one that was seen is not looked for again. */
  async function goOn(): Promise<void> {
    for await (const { id } of client.pets({ after: last })) {
      seen.add(id);
      last = id;
    }
  }

  const walking = (async () => {
    while (!isOver) await goOn();
  })();
  walking.catch(() => {}); // told by finish()

  return {
    async finish() {
      isOver = true;
      await walking;
      await goOn();
      return seen;
    },
  };
}

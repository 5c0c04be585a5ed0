/** Garbage collection, for tests of what must not be kept. */

import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage until none of these is left, or for a second; returns how many are. */
export async function countKept(
  references: readonly WeakRef<object>[],
): Promise<number> {
  const collect = collector();
  for (let turn = 0;; turn++) {
    // A reference that was read is kept alive until the end of the turn. What counts is the number
    // of turns, not their time.
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
    const kept = references.filter((one) => one.deref() !== undefined).length;
    if (kept === 0 || turn === 100) return kept;
  }
}

function collector(): () => void {
  if (process.versions.bun !== undefined) {
    const { Bun } = globalThis as unknown as {
      readonly Bun: { gc(isForced: boolean): void };
    };
    return () => Bun.gc(true);
  }
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

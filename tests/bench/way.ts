/**
 * Ways to do a piece of work again and again, and how fast they are.
 *
 * @module
 */

import type { Turn } from "./turns.ts";

/** Does a piece of work so many times, with so many under way at once. */
export type Way = (times: number, atOnce: number) => Promise<void>;

/** Work that blocks: one after the other, however many are asked for at once. */
export function blocking(work: (i: number) => unknown): Way {
  let i = 0;
  return async (times) => {
    for (const end = i + times; i < end; i++) work(i);
  };
}

/** Work that is waited for. */
export function waiting(work: (i: number) => Promise<unknown>): Way {
  let i = 0;
  return async (times, atOnce) => {
    const end = i + times;
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (i < end) await work(i++);
    }));
  };
}

/** Measures how often a second a way does its work, in turns that last about as long as they should. */
export function speedometer(
  way: Way,
  atOnce: number,
  turnTime: number,
): Turn {
  let times = atOnce;
  return async () => {
    const start = performance.now();
    await way(times, atOnce);
    const speed = times / (performance.now() - start) * 1000;
    times = Math.max(4 * atOnce, Math.round(speed * turnTime));
    return speed;
  };
}

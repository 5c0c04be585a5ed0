/**
 * A queue in front of a database. Operations that wait at the same time are sent together, as a
 * group: they share one write to disk, or one round trip. Nothing joins a group once it is sent, so
 * a read sees all that was acknowledged before it arrived.
 *
 * The queue is sent at the end of the turn in which its first item arrived or a group ended: each
 * request arrives in a task of its own. It is sent immediately when there seems to be only one
 * client, or when `maxGroup` items are waiting (a turn of Node's loop can take seconds).
 * `sendGroups` limits both.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { closedError, storageError } from "./pet_database.ts";

/** Settings of {@linkcode grouped}. */
export interface GroupedOptions<Item, Result> {
  /** Names the operation in messages: `create pet`. */
  readonly action: string;
  /** Runs a group. Results are in order. An `Error` fails its item, a rejection every item. */
  send(group: readonly Item[]): Promise<readonly (Result | Error)[]>;
  /** Waiting items with the same key are sent once. Default: the item itself. */
  readonly keyOf?: (item: Item) => unknown;
  /** The size of an item. Default: 1. */
  readonly sizeOf?: (item: Item) => number;
  /** The maximum size of a group; a larger item is sent alone. */
  readonly maxGroup: number;
  /** The maximum number of groups under way, at most two of them recent. Default: 1. */
  readonly maxUnderWay?: number;
}

/** The maximum number of waiting items. */
const MAX_QUEUE = 10_000;
/** How long an item may wait to be sent, in ms, before it is refused. */
const MAX_WAIT = 2000;
/** The interval of the clock, in ms. */
const TICK = 20;
/** How long a group under way is recent, in ms. After that it may hang. */
const PATIENCE = 100;
/**
 * A client that sends one request at a time gains nothing from waiting. After this many lone items
 * the queue is skipped, except for every 31st item, which checks whether other clients have arrived.
 */
const AT_ONCE_AFTER = 31;

/** Makes a queue in front of a database. */
export function grouped<Item, Result>(options: GroupedOptions<Item, Result>) {
  interface Waiting extends PromiseWithResolvers<Result> {
    readonly item: Item;
    readonly size: number;
    readonly arrived: number;
  }
  const { action, send, maxGroup, maxUnderWay = 1 } = options;
  const { keyOf = (item: Item): unknown => item, sizeOf = () => 1 } = options;
  /** The waiting items by key, in order of arrival. */
  let queue = new Map<unknown, Waiting>();
  /** How many items in a row arrived while no other waited or was under way. */
  let alone = 0;
  /** When each group under way was sent, by the clock. */
  const sentAt: number[] = [];
  /** The time in ms, as `tick` counts it: a turn that takes a second makes no item late. */
  let clock = 0;
  let ticking: ReturnType<typeof setInterval> | undefined;
  /** Set by `close()`; resolved when nothing waits and nothing is under way. */
  let closing: PromiseWithResolvers<void> | undefined;

  const isSentAtOnce = () => alone > AT_ONCE_AFTER && alone % AT_ONCE_AFTER > 0;
  const busy = (reason: string) =>
    storageError("unavailable", action, `overloaded (${reason})`);

  /** Removes items from the queue, up to the first that is not wanted. */
  function dequeue(isWanted: (next: Waiting) => boolean): readonly Waiting[] {
    const taken: Waiting[] = [];
    for (const [key, next] of queue) {
      if (!isWanted(next)) return taken;
      queue.delete(key);
      taken.push(next);
    }
    // Not one map for ever: each table that V8 replaces in it points to the next, so once one is
    // old, all later items stay in memory until a major collection (`OrderedHashTable::Rehash`).
    queue = new Map();
    return taken;
  }

  function begin(): number {
    sentAt.push(clock);
    ticking ??= setInterval(tick, TICK);
    return clock;
  }

  async function end(began: number): Promise<void> {
    // Under way until this turn ends, so that what still arrives in it meets this group, even if
    // that took no turn, as in SQLite. A group that was sent at once does not wait for others.
    if (queue.size > 0 || alone > 0 && !isSentAtOnce()) await nextTurn();
    sentAt.splice(sentAt.indexOf(began), 1);
    sendGroups();
  }

  /** Sends an item without the queue, which would take a tenth of a read in PostgreSQL. */
  async function sendAtOnce(item: Item): Promise<Result> {
    const began = begin();
    try {
      return resultAt(await send([item]), 0);
    } finally {
      end(began);
    }
  }

  async function sendGroup(): Promise<void> {
    let sum = 0;
    const group = dequeue(({ size }) => (sum += size) <= maxGroup);
    const began = begin();
    try {
      const results = await send(group.map(({ item }) => item));
      for (const [place, { resolve, reject }] of group.entries()) {
        try {
          resolve(resultAt(results, place));
        } catch (error) {
          reject(error);
        }
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    end(began);
  }

  /** Sends the queue, unless `maxUnderWay` groups, or two recent ones, are under way. */
  function sendGroups(): void {
    const recent = () => sentAt.filter((began) => clock - began < PATIENCE);
    while (
      queue.size > 0 && sentAt.length < maxUnderWay && recent().length < 2
    ) sendGroup(); // which takes its items off the queue before it waits
    if (sentAt.length === 0) closing?.resolve();
  }

  function tick(): void {
    clock += TICK;
    const late = dequeue(({ arrived }) => clock - arrived > MAX_WAIT);
    for (const { reject } of late) reject(busy(`waited ${MAX_WAIT} ms`));
    if (sentAt.length > 0) return sendGroups(); // a group may hang now
    clearInterval(ticking);
    ticking = undefined;
  }

  return {
    /** Resolves to the result of `item`. */
    async run(item: Item): Promise<Result> {
      if (closing !== undefined) throw closedError(action);
      alone = queue.size + sentAt.length === 0 ? alone + 1 : 0;
      if (isSentAtOnce()) return await sendAtOnce(item);
      const key = keyOf(item);
      const same = queue.get(key);
      if (same !== undefined) return same.promise;
      if (queue.size >= MAX_QUEUE) throw busy(`${MAX_QUEUE} are waiting`);
      const size = Math.min(sizeOf(item), maxGroup);
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      queue.set(key, { item, size, arrived: clock, promise, resolve, reject });
      if (queue.size >= maxGroup) sendGroups();
      else if (queue.size === 1) nextTurn().then(sendGroups);
      return promise;
    },

    /** Refuses further items; resolves once all accepted items are settled. */
    async close(): Promise<void> {
      closing ??= Promise.withResolvers();
      sendGroups();
      await closing.promise;
      clearInterval(ticking);
    },
  };
}

/** @throws {Error} the error of an item, or one that says that its result is missing. */
function resultAt<Result>(
  results: readonly (Result | Error)[],
  place: number,
): Result {
  const result = results[place];
  if (result instanceof Error) throw result;
  if (place >= results.length) throw new Error("There is no result");
  return result as Result;
}

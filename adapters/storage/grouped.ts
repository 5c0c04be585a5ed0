/**
 * Groups: operations that arrive together share one statement, and so one write to disk or one round trip.
 *
 * A group is gathered for one turn of the event loop (`setImmediate`): a microtask gathers nothing,
 * because every request arrives in a task of its own; a timer makes a lone operation wait. A full group
 * goes at once: on Node a turn may take thousands of requests, and seconds.
 *
 * Nothing joins a group that was sent, so a read sees all that was acknowledged before the read came.
 */

import { clearImmediate, setImmediate } from "node:timers";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { closedError } from "./closed.ts";

/** Settings of {@linkcode grouped}. */
export interface GroupedOptions<Item, Result> {
  /** Names the operation in messages: `create pet`. */
  readonly action: string;
  /**
   * Carries out a group. Results are in order; an error fails its own item. A rejection fails every item
   * of the group.
   */
  readonly send: (
    group: readonly Item[],
  ) => Promise<readonly (Result | Error)[]>;
  /** Items that have the same key and wait are sent once. Default: each is sent. */
  readonly keyOf?: (item: Item) => unknown;
  /** The size of an item. Default: 1. */
  readonly sizeOf?: (item: Item) => number;
  /** The maximum size of a group; a larger item goes alone. */
  readonly maxGroup: number;
  /** The maximum number of items that wait; any more are refused. Default: 10000. */
  readonly maxQueue?: number;
  /**
   * The longest wait for a group, in ms. An item is refused at once if its wait is expected to be
   * longer, by the pace of earlier groups; or later, if it was. Default: 2000.
   */
  readonly maxWait?: number;
  /** The maximum number of groups under way. There are more than two only if others hang. Default: 1. */
  readonly maxUnderWay?: number;
  /** Sends an item at once if nothing is under way. Default: false, so others of its turn join it. */
  readonly sendsLoneItem?: boolean;
}

export interface Grouped<Item, Result> {
  /** Fulfilled with the result of `item`. */
  run(item: Item): Promise<Result>;
  /** Refuses further items; fulfilled once all that were accepted are settled. */
  close(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly key: unknown;
  readonly size: number;
  /** When it came, by the clock of the queue. */
  readonly since: number;
  readonly promise: Promise<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** The weight of the last answer in the pace. */
const WEIGHT = 0.2;
/** The interval of the clock, in ms. */
const TICK = 20;
/**
 * A group under way for longer, in ms, may hang. Two may always be under way if `maxUnderWay` allows it; a third is
 * sent only if all but the last may hang.
 */
const PATIENCE = 100;

/** Queues operations in front of a database. */
export function grouped<Item, Result>(
  options: GroupedOptions<Item, Result>,
): Grouped<Item, Result> {
  const { action, send, keyOf = () => undefined, sizeOf = () => 1 } = options;
  const { maxGroup, maxQueue = 10_000, maxWait = 2000 } = options;
  const { maxUnderWay = 1, sendsLoneItem = false } = options;
  /** The items that wait, in the order in which they came. */
  const queue: Waiting<Item, Result>[] = [];
  /** Those that have a key, by it. */
  const byKey = new Map<unknown, Waiting<Item, Result>>();
  /** The sum of their sizes. */
  let queued = 0;
  /** Set while the queue is to be sent at the end of this turn of the event loop. */
  let endOfTurn: ReturnType<typeof setImmediate> | undefined;
  /** When each group under way was sent, by the clock; ascending. */
  const sentAt: number[] = [];
  /** When a group was last answered, by the clock. */
  let answeredAt = 0;
  /** The time from one answer to the next while groups are under way, in ms: a moving average. */
  let pace = 0;
  /**
   * The time in ms, counted by an interval while groups are under way. If requests hold up the event loop
   * for a second, it moves on by one tick: the database may have answered in the meantime.
   */
  let clock = 0;
  /** The interval that moves the clock; it ends when it finds nothing under way. */
  let ticking: ReturnType<typeof setInterval> | undefined;
  /** Set by `close()`, and fulfilled when nothing waits and nothing is under way. */
  let closing: PromiseWithResolvers<void> | undefined;

  /** Moves the clock, by which items may now be late and groups may hang: so it sends, too. */
  function tick(): void {
    clock += TICK;
    if (sentAt.length > 0) return sendGroups();
    clearInterval(ticking);
    ticking = undefined;
  }

  /** Tells whether another group may be sent: all but the last of those under way may hang. */
  function isFree(): boolean {
    const lastButOne = sentAt.at(-2) ?? -Infinity;
    return sentAt.length < maxUnderWay && clock - lastButOne >= PATIENCE;
  }

  /** Estimates how long an item that came now would wait before it is sent, in ms. */
  function expectedWait(): number {
    const wait = pace * Math.floor(queued / maxGroup);
    if (isFree()) return wait;
    // A group that takes longer than others did may hang.
    return wait + Math.max(pace, clock - (sentAt.at(-1) ?? clock));
  }

  function refusal(reason: string): StorageError {
    return new StorageError("unavailable", `Cannot ${action}: ${reason}`, {
      retryAfter: expectedWait() / 1000,
    });
  }

  function enqueue(key: unknown, item: Item): Promise<Result> {
    const size = sizeOf(item);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const waiting = { item, key, size, since: clock, promise, resolve, reject };
    queue.push(waiting);
    if (key !== undefined) byKey.set(key, waiting);
    queued += size;
    const isAlone = queue.length === 1 && sentAt.length === 0 &&
      endOfTurn === undefined;
    if (!isFree()) return promise; // It is sent once another group is answered, or hangs.
    if (queued >= maxGroup || sendsLoneItem && isAlone) sendGroups();
    else endOfTurn ??= setImmediate(sendGroups);
    return promise;
  }

  /** Takes the first items out of the queue. */
  function dequeue(count: number): readonly Waiting<Item, Result>[] {
    const taken = queue.splice(0, count);
    for (const { key, size } of taken) {
      queued -= size;
      byKey.delete(key);
    }
    return taken;
  }

  function refuseLate(): void {
    const inTime = queue.findIndex(({ since }) => clock - since <= maxWait);
    for (const { reject } of dequeue(inTime < 0 ? queue.length : inTime)) {
      reject(refusal(`the database did not get to it within ${maxWait} ms`));
    }
  }

  function takeGroup(): readonly Waiting<Item, Result>[] {
    let size = 0;
    const end = queue.findIndex((item, index) =>
      (size += item.size) > maxGroup && index > 0
    );
    return dequeue(end < 0 ? queue.length : end);
  }

  async function sendGroup(
    group: readonly Waiting<Item, Result>[],
  ): Promise<void> {
    ticking ??= setInterval(tick, TICK);
    const began = clock;
    sentAt.push(began);
    try {
      const results = await send(group.map(({ item }) => item));
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index];
        if (index >= results.length) reject(new Error("There is no result"));
        else if (result instanceof Error) reject(result);
        else resolve(result as Result);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    sentAt.splice(sentAt.indexOf(began), 1);
    pace += (clock - Math.max(began, answeredAt) - pace) * WEIGHT;
    answeredAt = clock;
    // What comes in the rest of this turn goes together.
    endOfTurn ??= setImmediate(sendGroups);
  }

  function sendGroups(): void {
    clearImmediate(endOfTurn);
    endOfTurn = undefined;
    refuseLate();
    while (queue.length > 0 && isFree()) sendGroup(takeGroup());
    if (closing === undefined || sentAt.length > 0) return;
    clearInterval(ticking);
    closing.resolve();
  }

  return {
    async run(item) {
      if (closing !== undefined) throw closedError(action);
      const key = keyOf(item);
      const same = byKey.get(key);
      if (same !== undefined) return same.promise;
      if (queue.length >= maxQueue) {
        throw refusal(`${maxQueue} others are waiting already`);
      }
      if (expectedWait() > maxWait) {
        throw refusal(`it would wait longer than ${maxWait} ms`);
      }
      return enqueue(key, item);
    },

    close() {
      closing ??= Promise.withResolvers();
      endOfTurn ??= setImmediate(sendGroups);
      return closing.promise;
    },
  };
}

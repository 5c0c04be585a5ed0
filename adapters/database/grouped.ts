/**
 * Groups: operations that arrive together share one statement, and so one write to disk or one round trip.
 *
 * A group is gathered for one turn of the event loop (`setImmediate`): a microtask gathers nothing,
 * because every request arrives in a task of its own; a timer makes a lone operation wait. A full group
 * goes at once: on Node a turn may take thousands of requests, and seconds.
 *
 * A group is closed before it is sent, so a read sees all that was acknowledged before it came.
 */

import {
  clearImmediate,
  clearInterval,
  setImmediate,
  setInterval,
} from "node:timers";
import { StorageError } from "../../core/pets/pet_storage.ts";

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
  /**
   * The maximum number of groups under way. There are more than two only if others hang. Default: 1, and
   * an item that finds nothing under way still waits for one turn of the event loop.
   */
  readonly maxUnderWay?: number;
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
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** The weight of the last group in the pace. */
const WEIGHT = 0.2;
/** The most that one turn of the event loop adds to the clock, in ms. */
const TICK = 20;
/** A group that takes longer, in ms, may hang: others are sent beside it. */
const PATIENCE = 100;

/** Queues operations in front of a database. */
export function grouped<Item, Result>(
  options: GroupedOptions<Item, Result>,
): Grouped<Item, Result> {
  const { action, send, keyOf, sizeOf = () => 1, maxUnderWay = 1 } = options;
  const { maxGroup, maxQueue = 10_000, maxWait = 2000 } = options;
  let queue: Waiting<Item, Result>[] = [];
  /** The size of the queue. */
  let queued = 0;
  /** Results of the items in the queue that have keys. */
  const shared = new Map<unknown, Promise<Result>>();
  let scheduled: ReturnType<typeof setImmediate> | undefined;
  /** When the clock was last set, in ms of `performance.now()`. */
  let setAt = performance.now();
  /**
   * Tells the time, in ms. While requests hold up the event loop it does not count: the database may
   * have answered already.
   */
  let clock = setAt;
  let ticking: ReturnType<typeof setInterval> | undefined;
  /** When each group under way began, by the clock; ascending. */
  const underWay: number[] = [];
  /** The time that a group takes, in ms: a moving average. */
  let pace = 0;
  let isClosed = false;
  const idle = Promise.withResolvers<void>();

  function setClock(): void {
    const now = performance.now();
    clock += Math.min(now - setAt, TICK);
    setAt = now;
  }

  /** Runs while groups are under way: some may hang. */
  function tick(): void {
    setClock();
    if (underWay.length > 0) return sendGroups();
    clearInterval(ticking);
    ticking = undefined;
  }

  /** Tells whether another group may be sent: all but one of those under way may hang. */
  function isFree(): boolean {
    const last = underWay.at(-2) ?? -Infinity;
    return underWay.length < maxUnderWay && clock - last >= PATIENCE;
  }

  /** Estimates the wait of an item that came now for its group, in ms. */
  function expectedWait(): number {
    // From one group to the next: two are under way, and more only if they take longer than PATIENCE.
    const interval = Math.max(Math.min(pace / 2, PATIENCE), pace / maxUnderWay);
    const wait = interval * Math.floor(queued / maxGroup);
    if (isFree()) return wait;
    if (underWay.length < maxUnderWay) return wait + Math.min(pace, PATIENCE);
    // A group that takes longer than others did may hang.
    return wait + Math.max(pace, clock - (underWay.at(-1) ?? clock));
  }

  function refusal(reason: string): StorageError {
    return new StorageError("unavailable", `Cannot ${action}: ${reason}`, {
      retryAfter: expectedWait() / 1000,
    });
  }

  /** Removes the first items of the queue. */
  function take(count: number): Waiting<Item, Result>[] {
    const taken = queue.slice(0, count);
    queue = queue.slice(count);
    for (const { key, size } of taken) {
      queued -= size;
      shared.delete(key);
    }
    return taken;
  }

  function refuseLate(): void {
    const oldest = clock - maxWait;
    const firstInTime = queue.findIndex(({ since }) => since >= oldest);
    const late = take(firstInTime < 0 ? queue.length : firstInTime);
    for (const { reject } of late) {
      reject(refusal(`the database did not get to it within ${maxWait} ms`));
    }
  }

  function takeGroup(): readonly Waiting<Item, Result>[] {
    let size = 0;
    const end = queue.findIndex((item, index) =>
      (size += item.size) > maxGroup && index > 0
    );
    return take(end < 0 ? queue.length : end);
  }

  async function sendGroup(
    group: readonly Waiting<Item, Result>[],
  ): Promise<void> {
    setClock();
    ticking ??= setInterval(tick, TICK);
    const began = clock;
    underWay.push(began);
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
    underWay.splice(underWay.indexOf(began), 1);
    setClock();
    pace += (clock - began - pace) * WEIGHT;
    // Until the turn is over, none is alone: they go together.
    scheduled ??= setImmediate(sendGroups);
  }

  function sendGroups(): void {
    clearImmediate(scheduled);
    scheduled = undefined;
    refuseLate();
    while (queue.length > 0 && isFree()) sendGroup(takeGroup());
    if (!isClosed || underWay.length > 0) return;
    clearInterval(ticking);
    idle.resolve();
  }

  function enqueue(item: Item, key: unknown): Promise<Result> {
    const size = sizeOf(item);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    queue.push({ item, key, size, since: clock, resolve, reject });
    queued += size;
    if (key !== undefined) shared.set(key, promise);
    const isAlone = maxUnderWay > 1 && underWay.length === 0 &&
      queue.length === 1 && scheduled === undefined;
    if ((isAlone || queued >= maxGroup) && isFree()) sendGroups();
    else if (isFree()) scheduled ??= setImmediate(sendGroups);
    return promise;
  }

  return {
    async run(item) {
      if (isClosed) {
        const message = `Cannot ${action}: the storage is closed`;
        throw new StorageError("unavailable", message);
      }
      const key = keyOf?.(item);
      const same = shared.get(key);
      if (same !== undefined) return same;
      if (queue.length >= maxQueue) {
        throw refusal(`${maxQueue} others are waiting already`);
      }
      if (expectedWait() > maxWait) {
        throw refusal(`it would wait longer than ${maxWait} ms`);
      }
      return enqueue(item, key);
    },

    close() {
      isClosed = true;
      scheduled ??= setImmediate(sendGroups);
      return idle.promise;
    },
  };
}

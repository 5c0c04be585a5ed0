/**
 * A queue in front of a database. Operations that wait at the same time are sent together, as a
 * group: they share one write to disk, or one round trip.
 *
 * The queue is sent
 *
 * - at the end of the turn in which its first item arrived, or in which an earlier group ended. A
 *   microtask would be too early, because each request arrives in a task of its own;
 * - earlier, when `maxGroup` items wait, whatever their sizes: on Node a turn may take seconds;
 * - at once, if nothing is under way and lately no item was joined by another, as with a single
 *   client (`unjoined`);
 * - in each case only if `sendGroups` allows another group. Otherwise it waits for one to end.
 *
 * Nothing joins a group once it is sent, so a read sees all that was acknowledged before it
 * arrived.
 */

import { setImmediate } from "node:timers";
import { closedError, storageError } from "./pet_database.ts";

/** Settings of {@linkcode grouped}. */
export interface GroupedOptions<Item, Result> {
  /** Names the operation in messages: `create pet`. */
  readonly action: string;
  /**
   * Runs a group. Results are in order. An `Error` fails its item; a rejection fails every item.
   */
  send(group: readonly Item[]): Promise<readonly (Result | Error)[]>;
  /** Waiting items with the same key are sent once. Default: each is sent. */
  readonly keyOf?: (item: Item) => unknown;
  /** The size of an item. Default: 1. */
  readonly sizeOf?: (item: Item) => number;
  /** The maximum size of a group; a larger item is sent alone. */
  readonly maxGroup: number;
  /** The maximum number of waiting items; any more are refused. Default: 10000. */
  readonly maxQueue?: number;
  /** How long an item may wait to be sent, in ms, before it is refused. Default: 2000. */
  readonly maxWait?: number;
  /**
   * The maximum number of groups under way. At most two of them are younger than 100 ms: more are
   * sent only because older ones may hang. Default: 1.
   */
  readonly maxUnderWay?: number;
  /**
   * True if only items with the same key are worth waiting for, because others cost as much
   * together as alone. Default: any items are.
   */
  readonly gathersEqual?: boolean;
  /**
   * True if a group counts as under way until the end of the turn in which `send` ends. SQLite's
   * commit begins and ends in one turn; what still arrives in that turn can then form a group.
   */
  readonly onePerTurn?: boolean;
}

export interface Grouped<Item, Result> {
  /** Resolves to the result of `item`. */
  run(item: Item): Promise<Result>;
  /** Refuses further items; resolves once all accepted items are settled. */
  close(): Promise<void>;
}

interface Waiting<Item, Result> extends Readonly<PromiseWithResolvers<Result>> {
  readonly item: Item;
  readonly key: unknown;
  readonly size: number;
  /** When it arrived, by the clock. */
  readonly since: number;
}

/** The interval of the clock, in ms. */
const TICK = 20;
/** The time after which a group under way may hang, in ms. */
const PATIENCE = 100;

/**
 * After this many items in a row that no other joined, as with a single client, the next ones are
 * sent at once. To wait for the end of the turn would take up to a fifth of a request's processor
 * time.
 */
const SEND_AT_ONCE_AFTER = 16;
/**
 * After this many, the count begins again, so that a few items wait and can be joined. If all were
 * sent at once, equal reads that arrive together would never meet in the queue of a database that
 * answers within the turn, as SQLite does.
 */
const WAIT_AGAIN_AFTER = 512;

/** Makes a queue in front of a database. */
export function grouped<Item, Result>(
  options: GroupedOptions<Item, Result>,
): Grouped<Item, Result> {
  type Group = readonly Waiting<Item, Result>[];
  const { action, send, maxGroup, maxQueue = 10_000, maxWait = 2000 } = options;
  const { maxUnderWay = 1, gathersEqual = false, onePerTurn = false } = options;
  const { keyOf = () => undefined, sizeOf = () => 1 } = options;
  const refusal = (reason: string) =>
    storageError("unavailable", action, `overloaded (${reason})`);
  /** The waiting items in order of arrival, and by key those that have one. */
  const queue: Waiting<Item, Result>[] = [];
  let byKey = new Map<unknown, Waiting<Item, Result>>();
  /** How many items in a row no other joined; begins again at `WAIT_AGAIN_AFTER`. */
  let unjoined = 0;
  /** When each group under way was sent, by the clock. */
  const sentAt: number[] = [];
  /**
   * The time in ms, as counted by `tick`. A turn that takes a second counts as one tick, so it
   * makes no item late.
   */
  let clock = 0;
  let ticking: ReturnType<typeof setInterval> | undefined;
  /** Set by `close()`; resolved when nothing waits and nothing is under way. */
  let closing: PromiseWithResolvers<void> | undefined;

  /** Removes items from the queue, up to the first that is not wanted. */
  function dequeue(isWanted: (next: Waiting<Item, Result>) => boolean): Group {
    const end = queue.findIndex((next) => !isWanted(next));
    const taken = queue.splice(0, end < 0 ? queue.length : end);
    // Not one map for ever. V8 replaces the table in a map again and again, and each old table
    // points to its successor (`OrderedHashTable::Rehash`). Once one is among old objects, all
    // later ones, with their items, stay in memory until a major garbage collection.
    if (queue.length === 0) byKey = new Map();
    else for (const { key } of taken) byKey.delete(key);
    return taken;
  }

  async function sendGroup(group: Group): Promise<void> {
    const began = clock;
    sentAt.push(began);
    // With `gathersEqual` different items in a group have not joined: equal ones did, in `run`.
    unjoined = group.length > 1 && !gathersEqual
      ? 0
      : (unjoined + group.length) % WAIT_AGAIN_AFTER;
    ticking ??= setInterval(tick, TICK);
    try {
      const results = await send(group.map(({ item }) => item));
      group.forEach(({ resolve, reject }, place) => {
        const result = results[place];
        if (result instanceof Error) reject(result);
        else if (place < results.length) resolve(result as Result);
        else reject(new Error("There is no result"));
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    // The queue is sent at the end of the turn, with what still arrives in it.
    if (onePerTurn || queue.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    sentAt.splice(sentAt.indexOf(began), 1);
    sendGroups();
  }

  /** Sends the queue, unless `maxUnderWay` groups, or two that are not hanging, are under way. */
  function sendGroups(): void {
    const isPrompt = (began: number) => clock - began < PATIENCE;
    while (
      queue.length > 0 && sentAt.length < maxUnderWay &&
      sentAt.filter(isPrompt).length < 2
    ) {
      let sum = 0;
      sendGroup(dequeue(({ size }) => (sum += size) <= maxGroup));
    }
    if (closing === undefined || sentAt.length > 0) return;
    clearInterval(ticking); // with nothing under way, nothing waits either
    closing.resolve();
  }

  function tick(): void {
    clock += TICK;
    const late = dequeue(({ since }) => clock - since > maxWait);
    for (const { reject } of late) reject(refusal(`waited ${maxWait} ms`));
    if (sentAt.length > 0) return sendGroups(); // some of them may hang now
    clearInterval(ticking);
    ticking = undefined;
  }

  return {
    async run(item) {
      if (closing !== undefined) throw closedError(action);
      const key = keyOf(item);
      const same = byKey.get(key);
      if (same !== undefined) {
        unjoined = 0;
        return same.promise;
      }
      if (queue.length >= maxQueue) throw refusal(`${maxQueue} are waiting`);
      const size = Math.min(sizeOf(item), maxGroup); // so that each fits into a group
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const own = { item, key, size, since: clock, promise, resolve, reject };
      const isIdle = queue.length + sentAt.length === 0;
      if (isIdle && unjoined >= SEND_AT_ONCE_AFTER) {
        sendGroup([own]);
        return promise;
      }
      queue.push(own);
      if (key !== undefined) byKey.set(key, own);
      if (queue.length >= maxGroup) sendGroups();
      else if (queue.length === 1) setImmediate(sendGroups);
      return promise;
    },

    close() {
      closing ??= Promise.withResolvers();
      sendGroups();
      return closing.promise;
    },
  };
}

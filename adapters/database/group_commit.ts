/**
 * Group commit: creates that arrive together share one transaction, and so one write to disk.
 * Knows nothing of any database.
 *
 * A batch is gathered for one turn of the event loop (`setImmediate`): a microtask gathers nothing,
 * because every request arrives in a task of its own; a timer makes a lone create wait. A full batch
 * goes at once: on Node a turn may take thousands of requests, and seconds.
 *
 * @module
 */

import {
  clearImmediate,
  clearInterval,
  setImmediate,
  setInterval,
} from "node:timers";
import type { CheckedPet, Pet } from "../../core/pets/pet.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";

/** A pet to create, and its idempotency key if it has one. */
export interface Create {
  readonly pet: CheckedPet;
  readonly key: string | undefined;
}

/** A pet that was added now, or before. */
export type Created = Pet & { readonly replayed?: true };

/** What {@linkcode groupCommit} needs. */
export interface GroupCommitOptions {
  /**
   * Stores all pets of a batch or none of them, but for those whose key it knows, and returns them in
   * the same order; an error in place of one that it knows and cannot return. No key is in a batch
   * twice. A rejection is that of every create of this batch, and of no other. Never called again
   * before the promise is settled.
   */
  readonly commit: (
    batch: readonly Create[],
  ) => Promise<readonly (Created | Error)[]>;
  /** The most pets of a batch. */
  readonly maxBatch: number;
  /** The most pets that wait for a batch of theirs; a create beyond it is refused. */
  readonly maxQueue: number;
  /**
   * The longest that a create waits for a batch of its own, in ms. One that is expected to wait longer
   * is refused at once, by the pace of the batches before; one that does is refused then.
   */
  readonly maxWait: number;
}

/** Creates pets in batches. */
export interface GroupCommit {
  /** As `create` of `PetStorage`. */
  create(pet: CheckedPet, key?: string): Promise<Created>;
  /** Refuses further creates; fulfilled once all that were accepted are settled. */
  close(): Promise<void>;
}

interface Waiting extends Create {
  /** When it came, by the clock of the queue. */
  readonly since: number;
  readonly resolve: (pet: Created) => void;
  readonly reject: (reason: unknown) => void;
}

/** How much the last batch counts in the pace. */
const WEIGHT = 0.2;

/** The most that a turn of the event loop counts on the clock of a queue, in ms. */
const TICK = 20;

/** Makes an empty queue of creates in front of a database. */
export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { commit, maxBatch, maxQueue, maxWait } = options;
  let queue: Waiting[] = [];
  let scheduled: ReturnType<typeof setImmediate> | undefined;
  /**
   * The time that batches took, in ms. It stands still while the event loop is held up by requests: that
   * is no sign of a slow database, whose answer may have been there all the time.
   */
  let clock = 0;
  /** When the clock was looked at, in ms of `performance.now()`. */
  let looked = 0;
  /** When the batch under way began, by the clock. */
  let began: number | undefined;
  /** How long a batch takes, in ms: a moving average. */
  let pace = 0;
  /** The creates with a key that are not settled: one that comes with the same key shares it. */
  const underWay = new Map<string, Promise<Created>>();
  let isClosed = false;
  let onIdle: (() => void)[] = [];

  function look(): void {
    const now = performance.now();
    clock += Math.min(now - looked, TICK);
    looked = now;
  }

  /** How long a create that comes now would wait for its batch to begin, in ms. */
  function expectedWait(): number {
    const wait = pace * Math.floor(queue.length / maxBatch);
    // A batch that has taken longer than others did may hang.
    return began === undefined ? wait : wait + Math.max(pace, clock - began);
  }

  function refusal(reason: string): StorageError {
    return new StorageError("unavailable", `Cannot create pet: ${reason}`, {
      retryAfter: expectedWait() / 1000,
    });
  }

  /** Behind a database that hangs, nobody waits for more than the batch that hangs. */
  function refuseLate(): void {
    const oldest = clock - maxWait;
    const firstInTime = queue.findIndex(({ since }) => since >= oldest);
    const late = queue.splice(0, firstInTime < 0 ? queue.length : firstInTime);
    for (const { reject } of late) {
      reject(refusal(`the database did not get to it within ${maxWait} ms`));
    }
  }

  async function commitBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await commit(batch);
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index] ??
          new Error("The batch came back without this pet");
        if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function flush(): Promise<void> {
    clearImmediate(scheduled);
    scheduled = undefined;
    refuseLate();
    const batch = queue.slice(0, maxBatch);
    queue = queue.slice(maxBatch);
    if (batch.length > 0) {
      looked = performance.now();
      began = clock;
      const timer = setInterval(look, TICK);
      await commitBatch(batch);
      clearInterval(timer);
      look();
      pace += (clock - began - pace) * WEIGHT;
      began = undefined;
    }
    if (queue.length > 0) {
      scheduled ??= setImmediate(flush);
      return;
    }
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  async function enqueue(pet: CheckedPet, key?: string): Promise<Created> {
    if (isClosed) {
      throw new StorageError("unavailable", "The storage is closed");
    }
    if (queue.length >= maxQueue) {
      throw refusal(`${maxQueue} others are waiting already`);
    }
    if (expectedWait() > maxWait) {
      throw refusal(`it would wait longer than ${maxWait} ms`);
    }
    return new Promise((resolve, reject) => {
      // A copy: the caller may change the object while it waits.
      const waiting = { pet: { ...pet }, key, since: clock };
      queue.push({ ...waiting, resolve, reject });
      if (began !== undefined) return;
      if (queue.length >= maxBatch) flush();
      else scheduled ??= setImmediate(flush);
    });
  }

  return {
    create(pet, key) {
      if (key === undefined) return enqueue(pet);
      const earlier = underWay.get(key);
      if (earlier !== undefined) {
        return earlier.then((pet) => ({ ...pet, replayed: true }));
      }
      const created = enqueue(pet, key);
      const forget = () => void underWay.delete(key);
      underWay.set(key, created);
      created.then(forget, forget);
      return created;
    },

    close() {
      isClosed = true;
      if (began === undefined && queue.length === 0) return Promise.resolve();
      return new Promise((resolve) => onIdle.push(resolve));
    },
  };
}

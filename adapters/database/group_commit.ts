/**
 * Group commit: creates that arrive together share one transaction, and so one write to disk.
 *
 * A batch is gathered for one turn of the event loop (`setImmediate`): a microtask gathers nothing,
 * because every request arrives in a task of its own; a timer makes a lone create wait. A full batch
 * goes at once: on Node a turn may take thousands of requests, and seconds.
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

/** The pet that a create added, now or before. */
export type Created = Pet & { readonly replayed?: true };

/** Settings of {@linkcode groupCommit}. */
export interface GroupCommitOptions {
  /**
   * Stores a batch, all or nothing, except the pets whose key was stored before. Results are in order;
   * an error stands for a pet that is stored but cannot be returned. A rejection is that of every create
   * of the batch. No key is in a batch twice, and one batch runs at a time.
   */
  readonly commit: (
    batch: readonly Create[],
  ) => Promise<readonly (Created | Error)[]>;
  /** The maximum number of pets in a batch. */
  readonly maxBatch: number;
  /** The maximum number of pets that wait for a batch; any more are refused. */
  readonly maxQueue: number;
  /**
   * The longest wait for a batch, in ms. A create is refused at once if its wait is expected to be
   * longer, by the pace of earlier batches; or later, if it was.
   */
  readonly maxWait: number;
}

/** Creates pets in batches, each as `create` of `PetStorage` does. */
export interface GroupCommit {
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

/** The weight of the last batch in the pace. */
const WEIGHT = 0.2;
/** The most that one turn of the event loop adds to the clock, in ms. */
const TICK = 20;

/** Queues creates in front of a database. */
export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { commit, maxBatch, maxQueue, maxWait } = options;
  let queue: Waiting[] = [];
  let scheduled: ReturnType<typeof setImmediate> | undefined;
  /**
   * The time that batches took, in ms. It stops while requests hold up the event loop: the answer of the
   * database may have been there all the time.
   */
  let clock = 0;
  /** When the clock was last set, in ms of `performance.now()`. */
  let setAt = 0;
  /** When the batch under way began, by the clock. */
  let began: number | undefined;
  /** How long a batch takes, in ms: a moving average. */
  let pace = 0;
  /** The creates with a key that are not settled, for others with the same key. */
  const underWay = new Map<string, Promise<Created>>();
  let isClosed = false;
  let onIdle: (() => void)[] = [];

  function setClock(): void {
    const now = performance.now();
    clock += Math.min(now - setAt, TICK);
    setAt = now;
  }

  /** How long a create would wait for its batch now, in ms. */
  function expectedWait(): number {
    const wait = pace * Math.floor(queue.length / maxBatch);
    // A batch that takes longer than others did may hang.
    return began === undefined ? wait : wait + Math.max(pace, clock - began);
  }

  function refusal(reason: string): StorageError {
    return new StorageError("unavailable", `Cannot create pet: ${reason}`, {
      retryAfter: expectedWait() / 1000,
    });
  }

  /** If the database hangs, creates wait no longer than the batch that hangs. */
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
      setAt = performance.now();
      began = clock;
      const timer = setInterval(setClock, TICK);
      await commitBatch(batch);
      clearInterval(timer);
      setClock();
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

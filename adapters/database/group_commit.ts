/**
 * Group commit: creates that arrive together share one transaction, and so one write to disk.
 * Knows nothing of any database.
 *
 * A batch is gathered for one turn of the event loop (`setImmediate`): a microtask gathers nothing,
 * because every request arrives in a task of its own; a timer makes a lone create wait.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { CheckedPet, Pet } from "../../core/pets/pet.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";

/** What {@linkcode groupCommit} needs. */
export interface GroupCommitOptions {
  /**
   * Stores all the animals of a batch or none of them, and returns them in the same order.
   * A rejection is that of every create of this batch, and of no other. Never called again before
   * the promise is settled.
   */
  readonly commit: (
    batch: readonly CheckedPet[],
  ) => Promise<readonly Pet[]>;
  /** The most animals of a batch. */
  readonly maxBatch: number;
  /** The most animals that wait for a batch of theirs; a create beyond it is refused. */
  readonly maxQueue: number;
  /** The longest that a create waits for a batch of its own, in ms; then it is refused. */
  readonly maxWait: number;
}

/** Creates animals in batches. */
export interface GroupCommit {
  /** As `create` of `PetStorage`. */
  create(pet: CheckedPet): Promise<Pet>;
  /** Refuses further creates; fulfilled once all that were accepted are settled. */
  close(): Promise<void>;
}

interface Waiting {
  readonly pet: CheckedPet;
  /** When it came, in ms. */
  readonly since: number;
  readonly resolve: (pet: Pet) => void;
  readonly reject: (reason: unknown) => void;
}

/** Makes an empty queue of creates in front of a database. */
export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { commit, maxBatch, maxQueue, maxWait } = options;
  let queue: Waiting[] = [];
  let isFlushing = false;
  let isClosed = false;
  let onIdle: (() => void)[] = [];

  /** Behind a database that hangs, nobody waits for more than the batch that hangs. */
  function refuseLate(): void {
    const oldest = performance.now() - maxWait;
    const firstInTime = queue.findIndex(({ since }) => since >= oldest);
    const late = firstInTime === -1 ? queue.length : firstInTime;
    for (const { reject } of queue.splice(0, late)) {
      reject(
        new StorageError(
          "unavailable",
          `Cannot create pet: the database did not get to it within ${maxWait} ms`,
        ),
      );
    }
  }

  async function commitBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const pets = await commit(batch.map((waiting) => waiting.pet));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const pet = pets[index];
        if (pet !== undefined) resolve(pet);
        else reject(new Error("The batch came back without this pet"));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function flush(): Promise<void> {
    refuseLate();
    const batch = queue.slice(0, maxBatch);
    queue = queue.slice(maxBatch);
    if (batch.length > 0) await commitBatch(batch);
    if (queue.length > 0) {
      setImmediate(flush);
      return;
    }
    isFlushing = false;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  return {
    async create(pet) {
      if (isClosed) {
        throw new StorageError("unavailable", "The storage is closed");
      }
      if (queue.length >= maxQueue) {
        throw new StorageError(
          "unavailable",
          `Cannot create pet: ${maxQueue} others are waiting already`,
        );
      }
      return new Promise((resolve, reject) => {
        // A copy: the caller may change the object while it waits.
        queue.push({
          pet: { ...pet },
          since: performance.now(),
          resolve,
          reject,
        });
        if (isFlushing) return;
        isFlushing = true;
        setImmediate(flush);
      });
    },

    close() {
      isClosed = true;
      if (!isFlushing) return Promise.resolve();
      return new Promise((resolve) => onIdle.push(resolve));
    },
  };
}

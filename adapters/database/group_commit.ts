/** Group commit: creates that arrive together share one transaction, and so one write to disk. */

import type { CheckedPet, Pet } from "../../core/pets/pet.ts";
import { grouped } from "./grouped.ts";

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
   * an error stands for a pet that is stored but cannot be returned. If it rejects, every create of the
   * batch fails. No key is in a batch twice, and one batch runs at a time.
   */
  readonly commit: (
    batch: readonly Create[],
  ) => Promise<readonly (Created | Error)[]>;
  /** The maximum number of pets in a batch. */
  readonly maxBatch: number;
  /** The maximum number of pets that wait for a batch; any more are refused. */
  readonly maxQueue: number;
  /** The longest wait for a batch, in ms. */
  readonly maxWait: number;
}

/** Creates pets in batches, each as `create` of `PetStorage` does. */
export interface GroupCommit {
  create(pet: CheckedPet, key?: string): Promise<Created>;
  /** Refuses further creates; fulfilled once all that were accepted are settled. */
  close(): Promise<void>;
}

/** Queues creates in front of a database. */
export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { commit, maxBatch, maxQueue, maxWait } = options;
  const { run, close } = grouped({
    action: "create pet",
    send: commit,
    maxGroup: maxBatch,
    maxQueue,
    maxWait,
  });
  /** The creates with a key that are not settled, for others with the same key. */
  const underWay = new Map<string, Promise<Created>>();

  return {
    create(pet, key) {
      // A copy: the caller may change the object while it waits.
      const create = { pet: { ...pet }, key };
      if (key === undefined) return run(create);
      const earlier = underWay.get(key);
      if (earlier !== undefined) {
        return earlier.then((pet) => ({ ...pet, replayed: true }));
      }
      const created = run(create);
      const forget = () => void underWay.delete(key);
      underWay.set(key, created);
      created.then(forget, forget);
      return created;
    },

    close,
  };
}

/** Group commit: creates that arrive together share one transaction, and so one write to disk. */

import type { CheckedPet, Pet } from "../../core/pets/pet.ts";
import { type Grouped, grouped, type GroupedOptions } from "./grouped.ts";

/** A pet to create, and its idempotency key if it has one. */
export interface Create {
  readonly pet: CheckedPet;
  readonly key: string | undefined;
}

/** The pet that a create added, now or before. */
export type Created = Pet & { readonly replayed?: true };

/** Creates pets in groups, each as `create` of `PetStorage` does. */
export interface GroupCommit extends Pick<Grouped<Create, Created>, "close"> {
  create(pet: CheckedPet, key?: string): Promise<Created>;
}

/**
 * Queues creates in front of a database.
 *
 * @param options `send` stores a group, all or nothing, except the pets whose key was stored before; an
 * error stands for a pet that is stored but cannot be returned. No key is in a group twice.
 */
export function groupCommit(
  options: Omit<GroupedOptions<Create, Created>, "action">,
): GroupCommit {
  const { run, close } = grouped({ ...options, action: "create pet" });
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

/** Pets in groups: creates, gets or pages that arrive together share a statement or a transaction. */

import {
  MAX_LIMIT,
  type Page,
  type PageRequest,
} from "../../core/pets/page.ts";
import type { CheckedPet, Pet, PetId } from "../../core/pets/pet.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { grouped, type GroupedOptions } from "./grouped.ts";

/** The maximum number of pets that are created at once. */
const MAX_CREATES = 256;

/** A pet to create, and its idempotency key if it has one. */
export interface Create {
  readonly pet: CheckedPet;
  readonly key: string | undefined;
}

/** The pet that a create added, now or before. */
export type Created = Pet & { readonly replayed?: true };

/** Settings of {@linkcode groupedPets}: how a database carries out groups. */
export interface GroupedPetsOptions {
  /**
   * Stores a group, all or nothing, except the pets whose key was stored before; an error stands for a pet
   * that is stored but cannot be returned. No key is in a group twice.
   */
  readonly create: GroupedOptions<Create, Created>["send"];
  /** Reads pets, which are frozen: callers who ask alike share them. */
  readonly get: GroupedOptions<PetId, Pet | undefined>["send"];
  /** Reads pages of such pets. */
  readonly list: GroupedOptions<PageRequest, Page>["send"];
  /** The sizes of groups of reads are in rows. */
  readonly reads: Pick<
    GroupedOptions<never, never>,
    "maxGroup" | "maxUnderWay" | "maxWait"
  >;
}

/** Queues operations, as the port has them, in front of a database. */
export function groupedPets(
  { create, get, list, reads }: GroupedPetsOptions,
): Pick<PetStorage, "create" | "get" | "list" | "close"> {
  const creates = grouped({
    action: "create pet",
    send: create,
    maxGroup: MAX_CREATES,
  });
  const gets = grouped({
    ...reads,
    sendsLoneItem: true,
    action: "get pet",
    send: get,
    keyOf: (id) => id,
  });
  const lists = grouped({
    ...reads,
    sendsLoneItem: true,
    action: "list pets",
    send: list,
    keyOf: ({ limit, status, after }) => `${limit} ${status} ${after}`,
    sizeOf: ({ limit }) => limit <= MAX_LIMIT ? limit : reads.maxGroup,
  });
  /** The creates with a key that are not settled, for others with the same key. */
  const underWay = new Map<string, Promise<Created>>();

  return {
    create(pet, options) {
      const key = options?.idempotencyKey;
      // A copy: the caller may change the object while it waits.
      const create = { pet: { ...pet }, key };
      if (key === undefined) return creates.run(create);
      const earlier = underWay.get(key);
      if (earlier !== undefined) {
        return earlier.then((pet) => ({ ...pet, replayed: true }));
      }
      // Frozen before any of those who share it can change it.
      const created = creates.run(create).then((pet) => Object.freeze(pet));
      const forget = () => void underWay.delete(key);
      underWay.set(key, created);
      created.then(forget, forget);
      return created;
    },

    get: gets.run,

    async list(query) {
      const page = await lists.run({ ...query });
      // A frozen array would do, but Bun 1.4 freezes and reads one slowly (oven-sh/bun#35478): it can be frozen
      // instead if `deno task bench` says on Bun that a list is no slower.
      return { ...page, pets: page.pets.slice() };
    },

    async close() {
      await Promise.all([creates, gets, lists].map(({ close }) => close()));
    },
  };
}

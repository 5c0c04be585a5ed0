/** Queues for pets: creates, gets or pages that arrive together share one statement. */

import { MAX_LIMIT } from "../../core/kit.ts";
import type {
  CheckedPet,
  Page,
  PageRequest,
  Pet,
  PetId,
  PetStorage,
} from "../../core/storage.ts";
import { grouped, type GroupedOptions } from "./grouped.ts";

/** The maximum number of pets that are created at once. */
const MAX_CREATES = 256;

/** A pet to create, and its idempotency key if it has one. */
export interface Create {
  readonly pet: CheckedPet;
  readonly key: string | undefined;
}

/** The pet that a create added, or that an earlier create with its key added. */
export type Created = Pet & { readonly replayed?: true };

/** Settings of {@linkcode groupedPets}: how a database runs groups. */
export interface GroupedPetsOptions {
  /**
   * Stores all pets of a group or none, but skips those whose key is already stored. An `Error`
   * means that a pet was skipped, and the earlier one cannot be returned. No key is in a group
   * twice.
   */
  readonly create: GroupedOptions<Create, Created>["send"];
  /** Reads pets. They are frozen, because callers may share them. */
  readonly get: GroupedOptions<PetId, Pet | undefined>["send"];
  /** Reads pages of frozen pets. */
  readonly list: GroupedOptions<PageRequest, Page>["send"];
  /** Limits on reads. `maxGroup` is in rows. */
  readonly reads: Pick<
    GroupedOptions<never, never>,
    "maxGroup" | "maxUnderWay"
  >;
}

/** Makes the queue of creates, with the methods of the port. */
export function groupedCreates(
  send: GroupedPetsOptions["create"],
): Pick<PetStorage, "create" | "close"> {
  const creates = grouped({
    action: "create pet",
    send,
    maxGroup: MAX_CREATES,
  });
  /** The unsettled creates that have a key, by that key. */
  const underWay = new Map<string, Promise<Created>>();

  return {
    create(pet, options) {
      const key = options?.idempotencyKey;
      // A copy: the caller may change the object while it waits.
      const item = { pet: { ...pet }, key };
      if (key === undefined) return creates.run(item);
      const earlier = underWay.get(key);
      if (earlier !== undefined) {
        return earlier.then((created) => ({ ...created, replayed: true }));
      }
      // Frozen before any caller that shares it can change it.
      const creating = creates.run(item).then((own) => Object.freeze(own));
      const forget = () => void underWay.delete(key);
      underWay.set(key, creating);
      creating.then(forget, forget);
      return creating;
    },

    close: creates.close,
  };
}

/** Makes the queues in front of a database, with the methods of the port. */
export function groupedPets(
  { create, get, list, reads }: GroupedPetsOptions,
): Pick<PetStorage, "create" | "get" | "list" | "close"> {
  const creates = groupedCreates(create);
  const gets = grouped({
    ...reads,
    action: "get pet",
    send: get,
  });
  const lists = grouped({
    ...reads,
    action: "list pets",
    send: list,
    keyOf: ({ limit, status, after }) => `${limit} ${status} ${after}`,
    sizeOf: ({ limit }) => limit <= MAX_LIMIT ? limit : reads.maxGroup,
  });

  return {
    create: creates.create,

    get: gets.run,

    async list(query) {
      const page = await lists.run({ ...query });
      // A copy, because a frozen array is slow to read on Bun 1.4 (oven-sh/bun#35478). Freeze it
      // instead once `deno task bench` shows that lists on Bun get no slower.
      return { ...page, pets: page.pets.slice() };
    },

    async close() {
      await Promise.all([creates, gets, lists].map(({ close }) => close()));
    },
  };
}

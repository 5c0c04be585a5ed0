/** Queues for pets: creates, gets or pages that arrive together share one statement. */

import { MAX_LIMIT } from "../../core/kit.ts";
import type { PetStorage } from "../../core/storage.ts";
import type { Created, GroupStorage } from "./group_storage.ts";
import { grouped, type GroupedOptions } from "./grouped.ts";

/** The maximum number of pets that are created at once. */
const MAX_CREATES = 256;

/** Limits on reads. `maxGroup` is in rows. */
export type ReadLimits = Pick<
  GroupedOptions<never, never>,
  "maxGroup" | "maxUnderWay"
>;

/** Makes the queue of creates, with the methods of the port. */
export function groupedCreates(
  send: GroupStorage["create"],
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
  { create, get, list }: GroupStorage,
  reads: ReadLimits,
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

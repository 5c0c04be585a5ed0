/** Reads of pets in groups: those that arrive together share a statement or a transaction. */

import { MAX_LIMIT } from "../../core/pets/page.ts";
import type { Pet, PetId } from "../../core/pets/pet.ts";
import type {
  PetPage,
  PetQuery,
  PetStorage,
} from "../../core/pets/pet_storage.ts";
import { grouped, type GroupedOptions } from "./grouped.ts";

/** Settings of {@linkcode groupedReads}. */
export interface GroupedReadsOptions
  extends Pick<GroupedOptions<unknown, unknown>, "maxGroup" | "maxUnderWay"> {
  readonly sendGets: GroupedOptions<PetId, Pet | undefined>["send"];
  readonly sendLists: GroupedOptions<PetQuery, PetPage>["send"];
}

/**
 * Queues reads in front of a database; the size of a group is the rows that it reads. Callers who ask alike
 * get the same pets, which are frozen.
 */
export function groupedReads(
  { sendGets, sendLists, ...limits }: GroupedReadsOptions,
): Pick<PetStorage, "get" | "list" | "close"> {
  const gets = grouped({
    ...limits,
    action: "get pet",
    send: sendGets,
    keyOf: (id) => id,
  });
  const lists = grouped({
    ...limits,
    action: "list pets",
    send: sendLists,
    keyOf: ({ limit, status, after }) => `${limit} ${status} ${after}`,
    sizeOf: ({ limit }) => limit > MAX_LIMIT ? limits.maxGroup : limit,
  });

  return {
    get: gets.run,

    async list(query) {
      // Copies: the caller may change the query while it waits, and its page.
      const page = await lists.run({ ...query });
      // Not frozen instead: Bun reads a frozen array slowly.
      return { ...page, pets: page.pets.slice() };
    },

    async close() {
      await Promise.all([gets.close(), lists.close()]);
    },
  };
}

/**
 * The reads that are measured at every size.
 *
 * @module
 */

import type { PetId } from "../../../core/pets/pet.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { RARE, RARE_ANIMALS } from "./status.ts";

/** One read, of so many: the `i`-th. */
export type Work = (i: number) => Promise<unknown>;

/** Ids are drawn before anything is measured: so many that what they lead to is in no cache again. */
const DRAWN = 65_536;
const WORKING_SET = 1000;

/** The reads of a storage with so many animals, of `statusOf`, by their names. */
export function worksOf(
  storage: PetStorage,
  animals: number,
): Readonly<Record<string, Work>> {
  const anyId = draw(DRAWN, animals - 50);
  const someId = draw(WORKING_SET, animals - 50);
  // At least half of the rare ones come after it.
  const earlyId = draw(WORKING_SET, animals / 2);
  const list = (ids: readonly PetId[], status?: typeof RARE | "pending") =>
    status === undefined
      ? (i: number) => storage.list({ limit: 20, after: at(ids, i) })
      : (i: number) => storage.list({ limit: 20, after: at(ids, i), status });
  return {
    "get, any id": (i) => storage.get(at(anyId, i)),
    "get, of 1000 ids": (i) => storage.get(at(someId, i)),
    "list, first page": () => storage.list({ limit: 20 }),
    "list, after any id": list(anyId),
    "list, after 1000 ids": list(someId),
    "list of half, after 1000 ids": list(someId, "pending"),
    [`list of ${RARE_ANIMALS} rare, after 1000 ids`]: list(earlyId, RARE),
  };
}

/** Ids from 1 to `max`, always the same ones. */
function draw(count: number, max: number): readonly PetId[] {
  let state = 2463534242;
  return Array.from({ length: count }, () => {
    // xorshift32 (Marsaglia 2003)
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return BigInt((state >>> 0) % max + 1) as PetId;
  });
}

function at(ids: readonly PetId[], i: number): PetId {
  return ids[i % ids.length] as PetId;
}

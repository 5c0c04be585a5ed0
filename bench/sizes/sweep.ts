/**
 * The same work on storages of different sizes, by turns.
 *
 * @module
 */

import type { PetId } from "../../core/pet.ts";
import type { PetStorage } from "../../core/pet_storage.ts";
import { inTurns, middleHalf, ratios, roundedMedian } from "../turns.ts";
import { speedometer, waiting } from "../way.ts";
import { RARE, RARE_ANIMALS } from "./status.ts";

/** A storage with a known number of animals, of `statusOf`. */
export interface Sized {
  readonly animals: number;
  readonly storage: PetStorage;
}

/** How long everything takes. */
export interface SweepOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** The figures of one work: µs at each size, and the largest over the smallest. */
export interface SweepRow {
  readonly work: string;
  readonly microseconds: readonly number[];
  readonly growth: number;
  readonly spread: string;
}

/** One piece of work on a storage, by the number of the time it is done. */
type Work = (sized: Sized) => (i: number) => Promise<unknown>;

const SHARE_OF_TURN = 0.05;
const WARM_UP = 3;
/** Ids are drawn before anything is measured: so many that a million animals are never all in a cache. */
const DRAWN = 65_536;
const WORKING_SET = 1000;

const works: Readonly<Record<string, Work>> = {
  "get, any id": ({ storage, animals }) => {
    const ids = draw(DRAWN, animals);
    return (i) => storage.get(at(ids, i));
  },
  "get, of 1000 ids": ({ storage, animals }) => {
    const ids = draw(WORKING_SET, animals);
    return (i) => storage.get(at(ids, i));
  },
  "list, first page": ({ storage }) => () => storage.list({ limit: 20 }),
  "list, after any id": ({ storage, animals }) => {
    const ids = draw(DRAWN, animals - 20);
    return (i) => storage.list({ limit: 20, after: at(ids, i) });
  },
  "list, after 1000 ids": ({ storage, animals }) => {
    const ids = draw(WORKING_SET, animals - 20);
    return (i) => storage.list({ limit: 20, after: at(ids, i) });
  },
  "list of half, after 1000 ids": ({ storage, animals }) => {
    const ids = draw(WORKING_SET, animals - 50);
    return (i) =>
      storage.list({ limit: 20, after: at(ids, i), status: "pending" });
  },
  [`list of ${RARE_ANIMALS} rare, after 1000 ids`]: ({ storage, animals }) => {
    const ids = draw(WORKING_SET, animals / 2); // at least half of them come after it
    return (i) => storage.list({ limit: 20, after: at(ids, i), status: RARE });
  },
};

/** Measures every work on every storage, from the smallest to the largest. */
export async function sweep(
  storages: readonly Sized[],
  { rounds, seconds }: SweepOptions,
): Promise<readonly SweepRow[]> {
  const rows: SweepRow[] = [];
  for (const [work, of] of Object.entries(works)) {
    const speeds = await inTurns(
      Object.fromEntries(storages.map((sized) => [
        `${sized.animals} animals`, // not a bare number: those are kept in another order
        speedometer(waiting(of(sized)), 1, seconds * SHARE_OF_TURN),
      ])),
      { rounds, warmUp: WARM_UP },
    );
    const all = Object.values(speeds);
    const growths = ratios(all[0] ?? [], all.at(-1) ?? []);
    rows.push({
      work,
      microseconds: all.map((of) =>
        roundedMedian(of.map((speed) => 1e6 / speed), 2)
      ),
      growth: roundedMedian(growths),
      spread: middleHalf(growths),
    });
  }
  return rows;
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

/** The pets that a sandbox starts with, and their ids. */

import { Refusal } from "../../core/http/refusal.ts";
import { INT64_MAX, INT64_MIN, isInt64 } from "../../core/json.ts";
import { parseNewPet } from "../../core/pets/new_pet.ts";
import {
  type CheckedPet,
  type NewPet,
  PET_STATUSES,
  type PetId,
  petId,
} from "../../core/pets/pet.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";

/** A pet that a sandbox starts with. */
export interface SeedPet extends NewPet {
  /** Greater than that of the pet before, at most 2⁶³ − 1. Default: the next; the first is 1. */
  readonly id?: bigint;
}

/** A pet of a seed that has been checked, with its id filled in. */
export type CheckedSeedPet = CheckedPet & { readonly id: PetId };

/**
 * Names that clients get wrong: other scripts, accents as one and as two code points, quotes, the
 * longest.
 */
const NAMES: readonly string[] = [
  "Rex",
  "Zo\u00eb",
  "Zoe\u0308",
  "小白",
  "Мурка",
  "مشمش",
  "👩‍🦰🐈‍⬛",
  `O'Malley "the Cat"`,
  " <b>100%25</b> \\n ",
  "🐾".repeat(255), // 510 UTF-16 code units
];

/** 2⁵³, beyond which a double is not exact. */
const EXACT = 2n ** 53n;
const CATEGORIES = [1n, 0n, -1n, EXACT + 1n, -EXACT - 1n, INT64_MAX, INT64_MIN];

/**
 * Makes the pets of a seed: a number of them, always the same, or those of an array.
 *
 * @throws {TypeError} if it is neither, there are more than `maxPets`, or a pet is wrong. The
 * message names the pet and the member.
 */
export function makeSeed(seed: unknown, maxPets: number): CheckedSeedPet[] {
  const isArray = Array.isArray(seed);
  const length = isArray ? seed.length : seed;
  if (
    typeof length !== "number" || !Number.isSafeInteger(length) ||
    length < 0 || length > maxPets
  ) {
    throw new TypeError(
      `Cannot seed pets: it must be an array of NewPet, or their number, at most ${maxPets}`,
    );
  }
  let last = 0n;
  return Array.from({ length }, (_, i) => {
    const given: unknown = isArray ? seed[i] : {
      name: NAMES[i % NAMES.length],
      categoryId: CATEGORIES[i % CATEGORIES.length],
      status: PET_STATUSES[i % PET_STATUSES.length],
    };
    const pet = parseNewPet(given);
    const { id = last + 1n } = Object(given);
    const isRefused = pet instanceof Refusal;
    if (!isRefused && isInt64(id) && id > last) {
      last = id;
      return { ...pet, id: petId(id) };
    }
    const reason = isRefused
      ? pet.message.replace("Cannot create pet: ", "")
      : `id must be an integer greater than ${last}, at most ${INT64_MAX}`;
    throw new TypeError(`Cannot seed pets: pet ${i + 1}: ${reason}`);
  });
}

/**
 * Adds the pets of a seed to an empty storage in memory, whose own ids are 1, 2, 3 and so on, and
 * returns it with the ids of the seed instead. Later ids continue after the last.
 */
export function withSeed(
  storage: PetStorage,
  seed: readonly CheckedSeedPet[],
): PetStorage {
  for (const pet of seed) storage.create(pet); // adds it at once
  const last = seed.at(-1)?.id ?? 0n;
  const skipped = last - BigInt(seed.length);
  const toId = (own: PetId): PetId =>
    seed[Number(own) - 1]?.id ?? petId(own + skipped);
  /** The storage's own id of the last pet up to this id; 0 or less if it has none. */
  const toOwn = (id: bigint): bigint =>
    skipped === 0n || id >= last // a search among 100,000 pets takes 3 ms
      ? id - skipped
      : BigInt(seed.findLastIndex((pet) => pet.id <= id) + 1);
  const list: PetStorage["list"] = async ({ after = 0n, ...request }) => {
    const page = await storage.list({ ...request, after: toOwn(after) });
    const pets = page.pets.map((pet) => ({ ...pet, id: toId(pet.id) }));
    return page.last === undefined ? { pets } : { pets, last: toId(page.last) };
  };
  return {
    ...storage,
    list,
    async create(...call) {
      const pet = await storage.create(...call);
      return { ...pet, id: toId(pet.id) };
    },
    async get(id) {
      const { pets: [pet] } = await list({ limit: 1, after: id - 1n });
      return pet?.id === id ? pet : undefined;
    },
  };
}

/** The pets that a sandbox starts with, and where it keeps them. */

import {
  inForm,
  INT64_MAX,
  INT64_MIN,
  isInt64,
  parseNewPet,
  PET_STATUSES,
  Problems,
} from "../../core/kit.ts";
import {
  type NewPet,
  type Pet,
  petId,
  type PetStorage,
  rowsToRead,
  toPage,
} from "../../core/storage.ts";
import { DEFAULT_RETENTION, storageError } from "../storage/pet_database.ts";

/** A pet that a sandbox starts with. */
export interface SeedPet extends NewPet {
  /** Greater than that of the pet before, at most 2⁶³ − 1. Default: the next; the first is 1. */
  readonly id?: bigint;
}

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

/** The members of a {@linkcode SeedPet}. */
const MEMBERS: readonly string[] = ["id", "name", "categoryId", "status"];

/** 2⁵³, beyond which a double is not exact. */
const EXACT = 2n ** 53n;
const CATEGORIES = [1n, 0n, -1n, EXACT + 1n, -EXACT - 1n, INT64_MAX, INT64_MIN];

/** What a sandbox starts with. */
export interface Seed {
  readonly pets: readonly Pet[];
  /** The least id of the pets that are added. */
  readonly nextId: bigint;
}

/**
 * Makes a seed of a number of pets, which are always the same, or of an array of them.
 *
 * @param nextId the id of the first pet that is added. Default: the next.
 * @throws {TypeError} if the pets are neither, there are more than `maxPets`, or a pet or `nextId`
 * is wrong. The message names the pet and the member.
 */
export function makeSeed(
  given: unknown,
  maxPets: number,
  nextId?: unknown,
): Seed {
  const pets = makePets(given, maxPets);
  const last = pets.at(-1)?.id ?? 0n;
  // There may be no next: then creates fail.
  if (nextId === undefined) return { pets, nextId: last + 1n };
  if (isInt64(nextId) && nextId > last) return { pets, nextId };
  throw new TypeError(
    `Cannot seed pets: nextId must be an integer greater than ${last}, at most ${INT64_MAX}${
      inForm(nextId)
    }`,
  );
}

function makePets(seed: unknown, maxPets: number): Pet[] {
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
    const wrong = (reason: string) =>
      new TypeError(`Cannot seed pets: pet ${i + 1}: ${reason}`);
    if (pet instanceof Problems) throw wrong(pet.toString("it"));
    // A create ignores a member that is unknown, but a test would not notice a misspelt one.
    const unknown = Object.keys(Object(given))
      .find((name) => !MEMBERS.includes(name));
    if (unknown !== undefined) {
      throw wrong(`${unknown} is unknown; use ${MEMBERS.join(", ")}`);
    }
    if (!isInt64(id) || id <= last) {
      throw wrong(
        `id must be an integer greater than ${last}, at most ${INT64_MAX}${
          inForm(id)
        }`,
      );
    }
    last = id;
    return { ...pet, id: petId(id) };
  });
}

/**
 * Keeps pets in an array, which may already have some, with any ascending ids; those that are added
 * have `nextId` at least. `room` returns how many more it may keep.
 */
export function arrayStorage(
  pets: Pet[],
  room: () => number,
  nextId = 1n,
): PetStorage {
  const byKey = new Map<string, Pet>();
  const list: PetStorage["list"] = async ({ limit, status, after = 0n }) => {
    const start = pets.findLastIndex(({ id }) => id <= after) + 1;
    const found = pets.values().drop(start)
      .filter((pet) => pet.status === (status ?? pet.status))
      .take(rowsToRead(limit));
    return toPage(found.toArray(), limit);
  };
  return {
    list,
    idempotencyRetention: DEFAULT_RETENTION, // and longer, until a reset
    async create({ name, categoryId, status }, { idempotencyKey: key } = {}) {
      const earlier = key === undefined ? undefined : byKey.get(key);
      if (earlier !== undefined) return { ...earlier, replayed: true };
      const last = pets.at(-1)?.id ?? 0n;
      const id = last < nextId ? nextId : last + 1n;
      if (!isInt64(id)) throw new Error("Cannot create pet: no ids are left");
      if (room() <= 0) {
        throw storageError("unavailable", "create pet", "the sandbox is full");
      }
      const pet = { id: petId(id), name, categoryId, status };
      pets.push(pet);
      if (key !== undefined) byKey.set(key, pet);
      return pet;
    },
    async get(id) {
      const { pets: [pet] } = await list({ limit: 1, after: id - 1n });
      return pet?.id === id ? pet : undefined;
    },
    async ping() {},
    async close() {},
  };
}

/** The pets that a storage in memory starts with. */

import {
  inForm,
  INT64_MAX,
  isInt64,
  parseNewPet,
  Problems,
} from "../../../core/kit.ts";
import { type NewPet, type Pet, petId } from "../../../core/storage.ts";

/** A pet that a storage in memory starts with. */
export interface SeedPet extends NewPet {
  /** Greater than that of the pet before, at most 2⁶³ − 1. Default: the next; the first is 1. */
  readonly id?: bigint;
}

/** The members of a {@linkcode SeedPet}. */
const MEMBERS: readonly string[] = ["id", "name", "categoryId", "status"];

/** The pets that {@linkcode checkSeed} made. A sandbox starts with them again at each reset. */
const checked = new WeakSet<object>();

/** What a storage in memory starts with. */
export interface Seed {
  /** Ascending by id. Each is frozen. */
  readonly pets: readonly Pet[];
  /** The id of the pet that is added next; above `INT64_MAX` if no ids are left. */
  readonly nextId: bigint;
}

/**
 * Checks the pets, gives them their ids, and copies them.
 *
 * @param nextId the id of the first pet that is added. Default: the next.
 * @throws {TypeError} if a pet or `nextId` is wrong. The message names the pet and the member.
 */
export function checkSeed(given: readonly unknown[], nextId?: unknown): Seed {
  let last = 0n;
  const pets = Array.from(given, (one, i) => {
    const pet = checkPet(one, i + 1, last);
    last = pet.id;
    return pet;
  });
  // There may be no next: then creates fail.
  const next = last + 1n;
  if (nextId === undefined || nextId === next) return { pets, nextId: next };
  if (isInt64(nextId) && nextId > last) return { pets, nextId };
  throw new TypeError(`Cannot seed pets: nextId ${mustBeAbove(last, nextId)}`);
}

/** @param place its number in the seed, for messages. */
function checkPet(given: unknown, place: number, last: bigint): Pet {
  const wrong = (reason: string) =>
    new TypeError(`Cannot seed pets: pet ${place}: ${reason}`);
  if (isChecked(given) && given.id > last) return given;
  const pet = parseNewPet(given);
  if (pet instanceof Problems) throw wrong(pet.toString("it"));
  // A create ignores a member that is unknown, but a test would not notice a misspelt one.
  const unknown = Object.keys(Object(given))
    .find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    throw wrong(`${unknown} is unknown; use ${MEMBERS.join(", ")}`);
  }
  const { id = last + 1n } = Object(given);
  if (!isInt64(id) || id <= last) throw wrong(`id ${mustBeAbove(last, id)}`);
  const { name, categoryId, status } = pet;
  const made = Object.freeze({ id: petId(id), name, categoryId, status });
  checked.add(made);
  return made;
}

function isChecked(given: unknown): given is Pet {
  return checked.has(Object(given));
}

function mustBeAbove(last: bigint, id: unknown): string {
  return `must be an integer greater than ${last}, at most ${INT64_MAX}${
    inForm(id)
  }`;
}

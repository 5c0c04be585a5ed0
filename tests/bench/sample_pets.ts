/**
 * The animals that storages are filled with, and which of them are asked for.
 *
 * @module
 */

import {
  type NewPet,
  PET_STATUSES,
  type PetId,
  petId,
} from "../../core/pets/pet.ts";

/** An animal with a number of its own: a third of them in each status, one after the other. */
export function numberedPet(i: number): Required<NewPet> {
  return {
    name: `Pet number ${i}`,
    categoryId: BigInt(i),
    status: PET_STATUSES[i % 3] ?? "available",
  };
}

/** The ids from 1 to `count` in an order that jumps about: each once, if `count` is no multiple of 7919. */
export function jumpingId(i: number, count: number): PetId {
  return petId(BigInt((i * 7919) % count + 1));
}

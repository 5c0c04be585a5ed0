/** All pets in memory: half the size of an object for each, and quick to collect as garbage. */

import {
  type CheckedPet,
  type Pet,
  type PetId,
  petId,
  type PetStatus,
  petToJson,
} from "../../core/pets/pet.ts";
import type { PetQuery } from "../../core/pets/pet_storage.ts";

const BLOCK_SIZE = 1024;

/** Up to {@linkcode BLOCK_SIZE} pets, with an array for each member. */
class Block {
  readonly names: string[] = [];
  readonly categoryIds = new BigInt64Array(BLOCK_SIZE);
  readonly statuses: PetStatus[] = [];
  /** The JSON text of each, once it was asked for. */
  readonly texts = new Array<string | undefined>(BLOCK_SIZE);
}

/**
 * Pets by position; the one with id n is at n - 1. In blocks, because one growing array is copied
 * time and again, and a garbage collector may scan all of it after each addition.
 */
export class Pets {
  readonly #blocks: Block[] = [];
  /** Of each status, ascending. */
  readonly #positions: Readonly<Record<PetStatus, number[]>> = {
    available: [],
    pending: [],
    sold: [],
  };
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds a pet and returns its position. */
  add({ name, categoryId, status }: CheckedPet): number {
    const position = this.#count;
    const index = position % BLOCK_SIZE;
    if (position === this.#blocks.length * BLOCK_SIZE) {
      this.#blocks.push(new Block());
    }
    const block = this.#block(position);
    // These two throw if JavaScript passes an unchecked pet: before it counts.
    block.categoryIds[index] = categoryId;
    this.#positions[status].push(position);
    block.names[index] = name;
    block.statuses[index] = status;
    this.#count++;
    return position;
  }

  /** @throws {RangeError} if the position holds no pet. */
  pet(position: number): Pet {
    const block = this.#block(position);
    const index = position % BLOCK_SIZE;
    const name = block.names[index];
    const categoryId = block.categoryIds[index];
    const status = block.statuses[index];
    if (
      name === undefined || categoryId === undefined || status === undefined
    ) throw notFound(position);
    return { id: idAt(position), name, categoryId, status };
  }

  /** @throws {RangeError} if the position holds no pet. */
  json(position: number): string {
    const { texts } = this.#block(position);
    return texts[position % BLOCK_SIZE] ??= petToJson(this.pet(position));
  }

  /** The positions of the pets that match: one more than `limit` if there is a next page. */
  find({ limit, status, after = 0n }: PetQuery): number[] {
    const count = this.#count;
    const start = after <= 0n ? 0 : after >= count ? count : Number(after);
    if (status !== undefined) {
      const matches = this.#positions[status];
      const from = lowerBound(matches, start);
      return matches.slice(from, from + limit + 1);
    }
    const found: number[] = [];
    const end = Math.min(start + limit + 1, count);
    for (let position = start; position < end; position++) found.push(position);
    return found;
  }

  #block(position: number): Block {
    const block = this.#blocks[Math.floor(position / BLOCK_SIZE)];
    if (block === undefined) throw notFound(position);
    return block;
  }
}

/** The id of the pet at a position. */
export function idAt(position: number): PetId {
  return petId(BigInt(position + 1));
}

function notFound(position: number): RangeError {
  return new RangeError(`Pet not found at position ${position}`);
}

/** The index of the first of `ascending` that is at least `least`. */
function lowerBound(ascending: readonly number[], least: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? Infinity) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Animals kept in memory: for embedding, for trying out, and for tests. They are gone when the
 * process ends. Uses nothing but the language, so it works wherever the core does.
 *
 * An animal with a name of 18 letters takes about 80 bytes (130 on Bun), and about 90 (130) more once
 * its JSON text was asked for, which is kept; a page costs microseconds at any number of animals.
 *
 * @module
 */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import {
  type NewPet,
  type Pet,
  type PetId,
  petId,
  type PetStatus,
  petToJson,
} from "../../core/pets/pet.ts";
import {
  type JsonPage,
  type PetQuery,
  type PetStorage,
  StorageError,
  withJson,
} from "../../core/pets/pet_storage.ts";
import { checkNewPet } from "../database/check_new_pet.ts";
import { memoryApiKeys } from "./api_keys.ts";

/** A {@linkcode PetStorage} in memory, and a place for the records of issued API keys. */
export interface MemoryStorage extends PetStorage {
  /** Records of issued API keys, in the same memory. */
  readonly apiKeys: ApiKeyStorage;
}

/**
 * Makes an empty storage.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { memoryStorage } from "./mod.ts";
 *
 * const storage = memoryStorage();
 * const rex = await storage.create({ name: "Rex", categoryId: 1n, status: "available" });
 * assert.deepEqual(await storage.list({ limit: 20, status: "available" }), [rex]);
 * ```
 */
export function memoryStorage(): MemoryStorage {
  let animals = new Animals();
  // Of each status, the positions in ascending order.
  let positions: Record<PetStatus, number[]> = noPositions();
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) {
      throw new StorageError("unavailable", "The memory storage is closed");
    }
  }

  /** The position of an animal; `undefined` where there is none. */
  function locate(id: PetId): number | undefined {
    assertOpen();
    return id >= 1n && id <= BigInt(animals.count) ? Number(id) - 1 : undefined;
  }

  /** The positions of the animals that match. */
  function find({ limit, status, after }: PetQuery): number[] {
    assertOpen();
    const start = firstPosition(animals.count, after);
    if (status !== undefined) {
      const matches = positions[status];
      const from = lowerBound(matches, start);
      return matches.slice(from, from + limit);
    }
    const found: number[] = [];
    const end = Math.min(start + limit, animals.count);
    for (let position = start; position < end; position++) found.push(position);
    return found;
  }

  return {
    apiKeys: memoryApiKeys(assertOpen),

    async create(newPet) {
      assertOpen();
      const checked = checkNewPet(newPet);
      const position = animals.add(checked);
      positions[checked.status].push(position);
      return animals.pet(position);
    },

    get: withJson(
      async (id: PetId) => {
        const position = locate(id);
        return position === undefined ? undefined : animals.pet(position);
      },
      async (id) => {
        const position = locate(id);
        return position === undefined ? undefined : animals.json(position);
      },
    ),

    list: withJson(
      async (query: PetQuery) =>
        find(query).map((position) => animals.pet(position)),
      async (query): Promise<JsonPage> => {
        // One more than the page holds tells whether there is a next one.
        const found = find({ ...query, limit: query.limit + 1 });
        const page = found.slice(0, query.limit);
        const last = found.length > page.length ? page.at(-1) : undefined;
        const texts = page.map((position) => animals.json(position));
        return {
          json: `[${texts.join(",")}]`,
          last: last === undefined ? undefined : idAt(last),
        };
      },
    ),

    async ping() {
      assertOpen();
    },

    async close() {
      isClosed = true;
      animals = new Animals();
      positions = noPositions();
    },
  };
}

/** How many animals a block has. */
const BLOCK_SIZE = 1024;

/**
 * Up to {@linkcode BLOCK_SIZE} animals, each member in an array of its own: that takes half the memory of
 * an object for each, and with the JSON text of every one about a tenth more than the objects alone.
 */
class Block {
  readonly names: string[] = [];
  readonly categoryIds = new BigInt64Array(BLOCK_SIZE);
  readonly statuses: PetStatus[] = [];
  /** The text of each, from when it is first asked for. */
  readonly texts = new Array<string | undefined>(BLOCK_SIZE);
}

/**
 * All animals; the one with id n stands at position n - 1. They are in blocks because an array that
 * grows without end is copied time and again, and a garbage collector may look through the whole of
 * it whenever something was added.
 */
class Animals {
  readonly #blocks: Block[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds an animal and returns its position. */
  add({ name, categoryId, status }: Required<NewPet>): number {
    const position = this.#count++;
    const index = position % BLOCK_SIZE;
    if (index === 0) this.#blocks.push(new Block());
    const block = this.#block(position);
    block.names.push(name);
    block.categoryIds[index] = categoryId;
    block.statuses.push(status);
    return position;
  }

  /** @throws {RangeError} where there is none. */
  pet(position: number): Pet {
    const { names, categoryIds, statuses } = this.#block(position);
    const index = position % BLOCK_SIZE;
    const name = names[index];
    const categoryId = categoryIds[index];
    const status = statuses[index];
    if (
      name === undefined || categoryId === undefined || status === undefined
    ) throw noAnimal(position);
    return { id: idAt(position), name, categoryId, status };
  }

  /** @throws {RangeError} where there is none. */
  json(position: number): string {
    const { texts } = this.#block(position);
    return texts[position % BLOCK_SIZE] ??= petToJson(this.pet(position));
  }

  #block(position: number): Block {
    const block = this.#blocks[Math.floor(position / BLOCK_SIZE)];
    if (block === undefined) throw noAnimal(position);
    return block;
  }
}

function noAnimal(position: number): RangeError {
  return new RangeError(`There is no animal at position ${position}`);
}

function idAt(position: number): PetId {
  return petId(BigInt(position + 1));
}

function noPositions(): Record<PetStatus, number[]> {
  return { available: [], pending: [], sold: [] };
}

/** The position of the first animal whose id is above `after`: from 0 to `count`. */
function firstPosition(count: number, after = 0n): number {
  if (after <= 0n) return 0;
  return after >= BigInt(count) ? count : Number(after);
}

/** The index of the first of ascending numbers that is at least `least`. */
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

/**
 * Pets kept in memory: for embedding, for trying out, and for tests. They are gone when the process
 * ends. It uses nothing but the language, so it works wherever the core does.
 *
 * A pet with a name of 18 letters takes about 80 bytes (130 on Bun), and about 90 (130) more once its
 * JSON text has been asked for, which is kept. A page costs microseconds at any number of pets.
 *
 * @module
 */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import {
  type CheckedPet,
  type Pet,
  type PetId,
  petId,
  type PetStatus,
  petToJson,
} from "../../core/pets/pet.ts";
import {
  type PetPage,
  type PetQuery,
  type PetStorage,
  StorageError,
} from "../../core/pets/pet_storage.ts";
import { memoryApiKeys } from "./api_keys.ts";
import { IdempotencyKeys } from "./idempotency_keys.ts";

/** A {@linkcode PetStorage} in memory, and a place for the records of issued API keys. */
export interface MemoryStorage extends PetStorage {
  /** Records of issued API keys, in the same memory. */
  readonly apiKeys: ApiKeyStorage;
}

/**
 * Makes an empty storage.
 *
 * @param options `idempotencyRetention`: how long an idempotency key is kept, in ms; 0 keeps none.
 * Default: 86400000 (24 hours).
 * @throws {RangeError} if that is not an integer of at least 0.
 *
 * ```ts
 * import { checkNewPet, memoryStorage } from "../../mod.ts";
 * import assert from "node:assert/strict";
 *
 * const storage = memoryStorage();
 * const rex = await storage.create(checkNewPet({ name: "Rex", categoryId: 1n }));
 * const { pets } = await storage.list({ limit: 20, status: "available" });
 * assert.deepEqual(pets, [rex]);
 * ```
 */
export function memoryStorage(
  options: { readonly idempotencyRetention?: number } = {},
): MemoryStorage {
  const { idempotencyRetention = 86_400_000 } = options;
  let keys = new IdempotencyKeys(idempotencyRetention);
  let pets = new Pets();
  // Of each status, the positions in ascending order.
  let positions: Record<PetStatus, number[]> = noPositions();
  // Pets neither change nor go, so a page that has a next one stays as it is. The first page is asked for
  // again and again.
  const fullPages = new Map<string, PetPage>();
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) {
      throw new StorageError("unavailable", "The memory storage is closed");
    }
  }

  /** The positions of the pets that match: one more than the page holds if there is a next one. */
  function find({ limit, status, after }: PetQuery): number[] {
    const start = firstPosition(pets.count, after);
    if (status !== undefined) {
      const matches = positions[status];
      const from = lowerBound(matches, start);
      return matches.slice(from, from + limit + 1);
    }
    const found: number[] = [];
    const end = Math.min(start + limit + 1, pets.count);
    for (let position = start; position < end; position++) found.push(position);
    return found;
  }

  return {
    apiKeys: memoryApiKeys(assertOpen),

    async create(newPet, { idempotencyKey: key } = {}) {
      assertOpen();
      const earlier = key === undefined ? undefined : keys.find(key);
      if (earlier !== undefined) {
        return { ...pets.pet(earlier), replayed: true };
      }
      const position = pets.add(newPet);
      positions[newPet.status].push(position);
      if (key !== undefined) keys.keep(key, position);
      return pets.pet(position);
    },

    async get(id) {
      assertOpen();
      return id >= 1n && id <= BigInt(pets.count)
        ? pets.pet(Number(id) - 1)
        : undefined;
    },

    async list(query) {
      assertOpen();
      const name = `${query.status} ${query.after} ${query.limit}`;
      const known = fullPages.get(name);
      if (known !== undefined) return known;
      const found = find(query);
      if (found.length <= query.limit) return new MemoryPage(pets, found);
      found.pop();
      const page = new MemoryPage(pets, found, idAt(found.at(-1) ?? 0));
      if (fullPages.size === MAX_FULL_PAGES) fullPages.clear();
      fullPages.set(name, page);
      return page;
    },

    async ping() {
      assertOpen();
    },

    async close() {
      isClosed = true;
      pets = new Pets();
      keys = new IdempotencyKeys(0);
      positions = noPositions();
      fullPages.clear();
    },
  };
}

/** A page that makes its pets when they are asked for, and its JSON of the texts that are kept. */
class MemoryPage implements PetPage {
  declare readonly pets: readonly Pet[];
  readonly last?: PetId;
  readonly #texts: () => string[];
  #json: string | undefined;

  constructor(all: Pets, positions: readonly number[], last?: PetId) {
    this.#texts = () => positions.map((position) => all.json(position));
    // Its own, not the prototype's, so that `{ ...page }` has the pets.
    Object.defineProperty(this, "pets", {
      enumerable: true,
      get: () => positions.map((position) => all.pet(position)),
    });
    if (last !== undefined) this.last = last;
    Object.freeze(this); // several callers may have it
  }

  toJson(): string {
    return this.#json ??= `[${this.#texts().join(",")}]`;
  }
}

/** How many pages are kept: 0.6 MB, if they have 100 pets each with short names. */
const MAX_FULL_PAGES = 64;

/** How many pets a block has. */
const BLOCK_SIZE = 1024;

/**
 * Up to {@linkcode BLOCK_SIZE} pets, each member in an array of its own: that takes half the memory of
 * an object for each, and with the JSON text of every one about a tenth more than the objects alone.
 */
class Block {
  readonly names: string[] = [];
  readonly categoryIds = new BigInt64Array(BLOCK_SIZE);
  readonly statuses: PetStatus[] = [];
  /** The JSON text of each, once it has been asked for. */
  readonly texts = new Array<string | undefined>(BLOCK_SIZE);
}

/**
 * All pets; the one with id n is at position n - 1. They are in blocks because an array that grows
 * without end is copied time and again, and a garbage collector may scan the whole of it whenever
 * something is added.
 */
class Pets {
  readonly #blocks: Block[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Adds a pet and returns its position. */
  add({ name, categoryId, status }: CheckedPet): number {
    const position = this.#count++;
    const index = position % BLOCK_SIZE;
    if (index === 0) this.#blocks.push(new Block());
    const block = this.#block(position);
    block.names.push(name);
    block.categoryIds[index] = categoryId;
    block.statuses.push(status);
    return position;
  }

  /** @throws {RangeError} if there is none. */
  pet(position: number): Pet {
    const { names, categoryIds, statuses } = this.#block(position);
    const index = position % BLOCK_SIZE;
    const name = names[index];
    const categoryId = categoryIds[index];
    const status = statuses[index];
    if (
      name === undefined || categoryId === undefined || status === undefined
    ) throw noPet(position);
    return { id: idAt(position), name, categoryId, status };
  }

  /** @throws {RangeError} if there is none. */
  json(position: number): string {
    const { texts } = this.#block(position);
    return texts[position % BLOCK_SIZE] ??= petToJson(this.pet(position));
  }

  #block(position: number): Block {
    const block = this.#blocks[Math.floor(position / BLOCK_SIZE)];
    if (block === undefined) throw noPet(position);
    return block;
  }
}

function noPet(position: number): RangeError {
  return new RangeError(`There is no pet at position ${position}`);
}

function idAt(position: number): PetId {
  return petId(BigInt(position + 1));
}

function noPositions(): Record<PetStatus, number[]> {
  return { available: [], pending: [], sold: [] };
}

/** The position of the first pet whose id is above `after`: from 0 to `count`. */
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

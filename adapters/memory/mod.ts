/**
 * Pets kept in memory until the process ends: for embedding, trying out and tests. Runs anywhere.
 *
 * A pet with a name of 18 letters takes about 80 bytes (130 on Bun), and about 90 (130) more once it
 * was listed, because its JSON text is kept. A page costs microseconds at any number of pets.
 */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import type { Pet, PetId } from "../../core/pets/pet.ts";
import {
  type PetPage,
  type PetStorage,
  StorageError,
} from "../../core/pets/pet_storage.ts";
import { memoryApiKeys } from "./api_keys.ts";
import { IdempotencyKeys } from "./idempotency_keys.ts";
import { idAt, Pets } from "./pets.ts";

/** How many full pages are kept: 0.6 MB if each has 100 pets with short names. */
const MAX_FULL_PAGES = 64;

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
 * @throws {RangeError} if it is not an integer of at least 0.
 */
export function memoryStorage(
  options: { readonly idempotencyRetention?: number } = {},
): MemoryStorage {
  const { idempotencyRetention = 86_400_000 } = options;
  let keys = new IdempotencyKeys(idempotencyRetention);
  let pets = new Pets();
  // Pets neither change nor go, so neither does a page that has a next one.
  const fullPages = new Map<string, PetPage>();
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) {
      throw new StorageError("unavailable", "The memory storage is closed");
    }
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
      if (key !== undefined) keys.keep(key, position);
      return pets.pet(position);
    },

    async get(id) {
      assertOpen();
      const position = Number(id) - 1; // rounded only beyond any count
      return position >= 0 && position < pets.count
        ? pets.pet(position)
        : undefined;
    },

    async list(query) {
      assertOpen();
      const name = `${query.status} ${query.after} ${query.limit}`;
      const known = fullPages.get(name);
      if (known !== undefined) return known;
      const found = pets.find(query);
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
      fullPages.clear();
    },
  };
}

/** A page that makes its pets on demand, and its JSON from the texts that are kept. */
class MemoryPage implements PetPage {
  declare readonly pets: readonly Pet[];
  declare readonly last?: PetId;
  readonly #texts: () => string[];
  #json: string | undefined;

  constructor(all: Pets, positions: readonly number[], last?: PetId) {
    this.#texts = () => positions.map((position) => all.json(position));
    // An own property, so that `{ ...page }` has the pets.
    Object.defineProperty(this, "pets", {
      enumerable: true,
      get: () => positions.map((position) => all.pet(position)),
    });
    if (last !== undefined) this.last = last;
    Object.freeze(this); // callers share it
  }

  toJson(): string {
    return this.#json ??= `[${this.#texts().join(",")}]`;
  }
}

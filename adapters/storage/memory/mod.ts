/**
 * Keeps pets in memory until the process ends: for tests and first steps. Runs anywhere.
 *
 * @module
 */

import {
  type ApiKeyRecord,
  type ApiKeyStorage,
  type NewApiKeyRecord,
  type Pet,
  petId,
  type PetStatus,
  rowsToRead,
  toPage,
} from "../../../core/storage.ts";
import { checkIntegers, checkNames, INT64_MAX } from "../../../core/kit.ts";
import {
  closedError,
  DEFAULT_RETENTION,
  type PetDatabase,
  storageError,
} from "../pet_database.ts";
import { checkSeed, type SeedPet } from "./seed.ts";

export type { PetDatabase } from "../pet_database.ts";
export type { SeedPet } from "./seed.ts";
export type * from "../../../core/storage.ts";

/** Settings of {@linkcode memoryStorage}. */
export interface MemoryOptions {
  /** The pets that it starts with, ascending by id. Default: none. */
  readonly pets?: readonly SeedPet[];
  /** The id of the first pet that is added, above those of `pets`. Default: the next. */
  readonly nextId?: bigint;
  /**
   * The maximum number of pets, at least 0. Further creates reject as `unavailable`, as on a full
   * disk. A function is called by each create, so that storages can share a maximum. Default: none.
   */
  readonly maxPets?: number | (() => number);
  /** How long an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
  readonly idempotencyRetention?: number;
}

/** A storage in memory, in which a test can look. */
export interface MemoryStorage extends PetDatabase {
  /** All pets, ascending by id. Copy the array before you change it; it grows with each create. */
  readonly allPets: readonly Pet[];
}

/**
 * Makes a storage, empty unless pets are given.
 *
 * @example Add a pet
 * ```ts
 * import { memoryStorage } from "@petstore/service/memory";
 * import { checkNewPet } from "@petstore/service/storage";
 *
 * await memoryStorage().create(checkNewPet({ name: "Rex", categoryId: 1n }));
 * ```
 *
 * @example Start with pets, such as one whose id a double cannot hold
 * ```ts
 * import { memoryStorage } from "@petstore/service/memory";
 * import { checkNewPet } from "@petstore/service/storage";
 * import assert from "node:assert/strict";
 *
 * const rex = { name: "Rex", categoryId: 1n };
 * const storage = memoryStorage({ pets: [rex, { ...rex, id: 2n ** 53n + 1n }], maxPets: 3 });
 * await storage.create(checkNewPet({ name: "Tom", categoryId: 2n }));
 * const ids = storage.allPets.map(({ id }) => id);
 * assert.deepEqual(ids, [1n, 9007199254740993n, 9007199254740994n]);
 * await assert.rejects(storage.create(checkNewPet(rex)), { kind: "unavailable" });
 * ```
 *
 * @param options the pets it starts with, how many it may have, and how long idempotency keys are
 * kept.
 * @returns the storage, whose `apiKeys` keeps issued keys.
 * @throws {TypeError} if an option is unknown, or `pets` or `nextId` is wrong; the message names
 * the pet and the member.
 * @throws {RangeError} if `maxPets` or `idempotencyRetention` is not an integer of at least 0, or
 * there are more `pets` than that.
 */
export function memoryStorage(options: MemoryOptions = {}): MemoryStorage {
  const names = ["pets", "nextId", "maxPets", "idempotencyRetention"];
  checkNames(options, names, "memoryStorage");
  const {
    pets: given = [],
    maxPets = () => Infinity,
    idempotencyRetention = DEFAULT_RETENTION,
  } = options;
  checkIntegers({ idempotencyRetention }, 0);
  if (!Array.isArray(given)) {
    throw new TypeError("Cannot seed pets: they must be an array of NewPet");
  }
  if (typeof maxPets !== "function") checkIntegers({ maxPets }, given.length);
  const most = typeof maxPets === "function" ? maxPets : () => maxPets;
  const seed = checkSeed(given, options.nextId);
  let { nextId } = seed;
  // The pet of id n is at index n - 1, unless the given ids have gaps.
  const hasGaps = nextId !== BigInt(seed.pets.length + 1);
  // The pet of each idempotency key and when it was added, in ms; oldest first.
  const byKey = new Map<
    string,
    { readonly pet: Pet; readonly created: number }
  >();
  // Ascending by id, so that a binary search finds the start of any page.
  const lists: Readonly<Record<PetStatus | "all", Pet[]>> = {
    all: [],
    available: [],
    pending: [],
    sold: [],
  };
  for (const pet of seed.pets) add(pet);
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) throw closedError("use the memory storage");
  }

  function add(pet: Pet): void {
    lists[pet.status].push(pet);
    lists.all.push(pet);
  }

  return {
    idempotencyRetention,
    apiKeys: memoryApiKeys(assertOpen),
    allPets: lists.all,

    async create({ name, categoryId, status }, { idempotencyKey: key } = {}) {
      assertOpen();
      const now = performance.now();
      for (const [oldest, { created }] of byKey) {
        if (created > now - idempotencyRetention) break;
        byKey.delete(oldest);
      }
      const earlier = key === undefined ? undefined : byKey.get(key);
      if (earlier !== undefined) return { ...earlier.pet, replayed: true };
      if (nextId > INT64_MAX) {
        throw new Error("Cannot create pet: no ids are left");
      }
      if (lists.all.length >= most()) {
        const reason = "the storage in memory has as many as it may";
        throw storageError("unavailable", "create pet", reason);
      }
      const id = petId(nextId);
      nextId += 1n;
      const pet = Object.freeze({ id, name, categoryId, status });
      add(pet);
      if (key !== undefined) byKey.set(key, { pet, created: now });
      return pet;
    },

    async get(id) {
      assertOpen();
      // `Number` rounds only ids that no array reaches.
      if (!hasGaps) return lists.all[Number(id) - 1];
      const pet = lists.all[indexAfter(lists.all, id - 1n)];
      return pet?.id === id ? pet : undefined;
    },

    async list({ limit, status, after = 0n }) {
      assertOpen();
      const pets = lists[status ?? "all"];
      const start = indexAfter(pets, after);
      return toPage(pets.slice(start, start + rowsToRead(limit)), limit);
    },

    async ping() {
      assertOpen();
    },

    async close() {
      isClosed = true;
    },
  };
}

/** Finds the index of the first pet whose id is greater; pets ascend by id. */
function indexAfter(pets: readonly Pet[], after: bigint): number {
  let low = 0;
  let high = pets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const pet = pets[middle];
    if (pet !== undefined && pet.id <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** In ms. */
const DAY = 86_400_000;

/** @param assertOpen throws if the storage is closed. */
function memoryApiKeys(assertOpen: () => void): ApiKeyStorage {
  // The record with id n and its digest are at index n - 1. Records are copied, because a caller
  // could change their Dates.
  const records: ApiKeyRecord[] = [];
  const digests: string[] = [];

  function keep(
    { name, digest, created, expires }: NewApiKeyRecord,
  ): ApiKeyRecord {
    if (digests.includes(digest)) {
      throw new Error("Cannot store API key: its digest already exists");
    }
    const id = digests.push(digest);
    const record = { id, name, created, ...expires && { expires } };
    records.push(structuredClone(record));
    return structuredClone(record);
  }

  async function markAllUsed(
    ids: readonly number[],
    day: Date,
  ): Promise<void> {
    assertOpen();
    for (const id of ids) {
      const record = records[id - 1];
      const ahead = Number(record?.lastUsed ?? 0) - day.getTime();
      if (record === undefined || ahead >= 0 && ahead <= DAY) continue;
      records[id - 1] = structuredClone({ ...record, lastUsed: day });
    }
  }

  return {
    async insert(record) {
      assertOpen();
      return keep(record);
    },

    async insertFirst(record) {
      assertOpen();
      return records.length === 0 ? keep(record) : undefined;
    },

    async isActive(digest) {
      assertOpen();
      const record = records[digests.indexOf(digest)];
      return record !== undefined && record.revoked === undefined;
    },

    async find(digest) {
      assertOpen();
      return structuredClone(records[digests.indexOf(digest)]);
    },

    async list() {
      assertOpen();
      return structuredClone(records);
    },

    async revoke(id, time) {
      assertOpen();
      const record = records[id - 1];
      if (record === undefined) return undefined;
      records[id - 1] = structuredClone({ revoked: time, ...record });
      return structuredClone(records[id - 1]);
    },

    markUsed: (id, day) => markAllUsed([id], day),

    markAllUsed,
  };
}

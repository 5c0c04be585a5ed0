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
import { checkIntegers, checkNames } from "../../../core/kit.ts";
import {
  closedError,
  DEFAULT_RETENTION,
  type PetDatabase,
} from "../pet_database.ts";

export type { PetDatabase } from "../pet_database.ts";
export type * from "../../../core/storage.ts";

/**
 * Makes an empty storage.
 *
 * @example Add a pet
 * ```ts
 * import { memoryStorage } from "@petstore/service/memory";
 * import { checkNewPet } from "@petstore/service/storage";
 *
 * await memoryStorage().create(checkNewPet({ name: "Rex", categoryId: 1n }));
 * ```
 *
 * @param options how long idempotency keys are kept.
 * @returns the storage, whose `apiKeys` keeps issued keys.
 * @throws {RangeError} if `idempotencyRetention` is not an integer of at least 0.
 */
export function memoryStorage(
  options: {
    /** How long an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
    readonly idempotencyRetention?: number;
  } = {},
): PetDatabase {
  checkNames(options, ["idempotencyRetention"], "memoryStorage");
  const { idempotencyRetention = DEFAULT_RETENTION } = options;
  checkIntegers({ idempotencyRetention }, 0);
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
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) throw closedError("use the memory storage");
  }

  return {
    idempotencyRetention,
    apiKeys: memoryApiKeys(assertOpen),

    async create({ name, categoryId, status }, { idempotencyKey: key } = {}) {
      assertOpen();
      const now = performance.now();
      for (const [oldest, { created }] of byKey) {
        if (created > now - idempotencyRetention) break;
        byKey.delete(oldest);
      }
      const earlier = key === undefined ? undefined : byKey.get(key);
      if (earlier !== undefined) return { ...earlier.pet, replayed: true };
      const id = petId(BigInt(lists.all.length + 1));
      const pet = Object.freeze({ id, name, categoryId, status });
      lists[status].push(pet);
      lists.all.push(pet);
      if (key !== undefined) byKey.set(key, { pet, created: now });
      return pet;
    },

    async get(id) {
      assertOpen();
      return lists.all[Number(id) - 1]; // `Number` rounds only ids that no array reaches
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

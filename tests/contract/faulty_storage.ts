/** A storage in memory with faults that can be switched on: each breaks a promise of the ports. */

import { memoryStorage, type PetDatabase } from "../../adapters/memory/mod.ts";
import type { ApiKeyRecord } from "../../core/keys/issued_keys.ts";
import { type Pet, petId } from "../../core/pets/pet.ts";
import { type PetPage, StorageError } from "../../core/pets/pet_storage.ts";

type Created = ReturnType<PetDatabase["create"]>;

/** Makes a storage that breaks a promise of one that keeps all. */
type Fault = (sound: PetDatabase) => Partial<PetDatabase>;

/** Each fault, by what is wrong with the storage then. */
export const FAULTS = {
  "get never finds a pet": () => ({ get: async () => undefined }),
  "get reads 32 bits of an id": ({ get }) => ({
    get: (id) => get(petId(BigInt.asUintN(32, id))),
  }),
  "names are normalised": ({ create }) => ({
    create: (pet, options) =>
      create({ ...pet, name: pet.name.normalize() }, options),
  }),
  "categories are rounded": ({ create }) => ({
    create(pet, options) {
      const categoryId = BigInt.asIntN(64, BigInt(Number(pet.categoryId)));
      return create({ ...pet, categoryId }, options);
    },
  }),
  "an empty list has a pet": ({ list }) => ({
    async list(query) {
      const page = await list(query);
      return page.pets.length > 0 ? page : { pets: [GHOST] };
    },
  }),
  "list ignores the status": ({ list }) => ({
    list: ({ limit, after = 0n }) => list({ limit, after }),
  }),
  "list filters what is on the page": ({ list }) => ({
    async list({ limit, after = 0n, status }) {
      const page = await list({ limit, after });
      const pets = page.pets.filter((pet) => pet.status === status);
      return status === undefined ? page : { ...page, pets };
    },
  }),
  "list reads 32 bits of an id": ({ list }) => ({
    list: (query) =>
      list({ ...query, after: BigInt.asIntN(32, query.after ?? 0n) }),
  }),
  "each page has a last id": ({ list }) => ({
    async list(query) {
      const { pets } = await list(query);
      const last = pets.at(-1)?.id;
      return last === undefined ? { pets } : { pets, last };
    },
  }),
  "a page that is not the first lacks its first pet": ({ list }) => ({
    async list(query) {
      const page = await list(query);
      const isFirst = (query.after ?? 0n) <= 0n;
      return { ...page, pets: page.pets.slice(isFirst ? 0 : 1) };
    },
  }),
  "ids descend": ({ create }) => ({
    async create(pet, options) {
      const created = await create(pet, options);
      return { ...created, id: petId(2n ** 40n - created.id) };
    },
  }),
  "creates at once get one id": ({ create }) => {
    let pending: Created | undefined;
    return {
      create: (pet, options) =>
        pending ??= create(pet, options).finally(() => pending = undefined),
    };
  },
  "a new pet is listed a little later": ({ create, list }) => {
    const hidden = new Set<bigint>();
    return {
      async create(pet, options) {
        const created = await create(pet, options);
        hidden.add(created.id);
        setTimeout(() => hidden.delete(created.id), 1);
        return created;
      },
      list: async (query) => without(hidden, await list(query)),
    };
  },
  "every other create takes longer": ({ create, list }) => {
    const hidden = new Set<bigint>();
    return {
      async create(pet, options) {
        const created = await create(pet, options);
        if (created.id % 2n === 0n) return created;
        hidden.add(created.id);
        await aWhile();
        await aWhile();
        hidden.delete(created.id);
        return created;
      },
      list: async (query) => without(hidden, await list(query)),
    };
  },
  "pets are shared": ({ create, get, list }) => {
    const shared = new Map<bigint, Pet>();
    const share = (pet: Pet): Pet => {
      const known = shared.get(pet.id) ?? { ...pet };
      shared.set(pet.id, known);
      return known;
    };
    return {
      create: async (pet, options) => share(await create(pet, options)),
      async get(id) {
        const pet = await get(id);
        return pet && share(pet);
      },
      async list(query) {
        const page = await list(query);
        return { ...page, pets: page.pets.map(share) };
      },
    };
  },
  "a ping is rejected": () => ({ ping: () => Promise.reject(new Error()) }),
  "close cuts creates off": ({ create }) => ({
    async create(pet, options) {
      await aWhile();
      return await create(pet, options);
    },
  }),
  "a second close is rejected": ({ close }) => {
    let isClosed = false;
    return {
      async close() {
        if (isClosed) throw new Error("closed");
        isClosed = true;
        await close();
      },
    };
  },
  "a closed storage rejects with any error": ({ get, apiKeys }) => ({
    get: (id) => get(id).catch(() => Promise.reject(new Error("closed"))),
    apiKeys: {
      ...apiKeys,
      list: () => apiKeys.list().catch(() => []),
    },
  }),
  "everything is forgotten at the end": () => memoryStorage(),
  "ids start again when it is opened again": ({ create }) => {
    let first: bigint | undefined;
    return {
      async create(pet, options) {
        const created = await create(pet, options);
        first ??= created.id;
        return { ...created, id: petId(created.id - first + 1n) };
      },
    };
  },
  "idempotency keys are ignored": ({ create }) => ({
    create: (pet) => create(pet),
  }),
  "all idempotency keys are one": ({ create }) => ({
    create: (pet, { idempotencyKey } = {}) =>
      create(pet, idempotencyKey === undefined ? {} : { idempotencyKey: "" }),
  }),
  "a replay returns what was sent": ({ create }) => ({
    async create(pet, options) {
      const created = await create(pet, options);
      return created.replayed ? { ...created, ...pet } : created;
    },
  }),
  "an idempotency key is kept after its pet": ({ create }) => {
    const pets = new Map<string, Pet>();
    return {
      async create(pet, { idempotencyKey = "" } = {}) {
        const known = pets.get(idempotencyKey);
        if (known !== undefined) return { ...known, replayed: true };
        await aWhile();
        const created = await create(pet);
        if (idempotencyKey !== "") pets.set(idempotencyKey, created);
        return created;
      },
    };
  },
  "records are numbered from 0": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      async insert(record) {
        const inserted = await apiKeys.insert(record);
        return { ...inserted, id: inserted.id - 1 };
      },
    },
  }),
  "names of records are trimmed": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      insert: (record) =>
        apiKeys.insert({ ...record, name: record.name.trim() }),
    },
  }),
  "times are cut to seconds": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      revoke: (id, time) =>
        apiKeys.revoke(id, new Date(time.getTime() - time.getMilliseconds())),
    },
  }),
  "a digest may come twice": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      insert: (record) =>
        apiKeys.insert(record).catch(() =>
          apiKeys.insert({ ...record, digest: `${record.digest}0` })
        ),
    },
  }),
  "a first record is looked for before it is kept": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      async insertFirst(record) {
        const isFirst = (await apiKeys.list()).length === 0;
        await aWhile();
        return isFirst ? await apiKeys.insert(record) : undefined;
      },
    },
  }),
  "revoked records do not count": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      async insertFirst(record) {
        const records = await apiKeys.list();
        return records.every(({ revoked }) => revoked !== undefined)
          ? await apiKeys.insert(record)
          : undefined;
      },
    },
  }),
  "active digests are remembered": ({ apiKeys }) => {
    const active = new Set<string>();
    return {
      apiKeys: {
        ...apiKeys,
        async isActive(digest) {
          if (await apiKeys.isActive(digest)) active.add(digest);
          return active.has(digest);
        },
      },
    };
  },
  "revoked keys stay active": ({ apiKeys }) => {
    const digests = new Set<string>();
    return {
      apiKeys: {
        ...apiKeys,
        insert(record) {
          digests.add(record.digest);
          return apiKeys.insert(record);
        },
        isActive: async (digest) => digests.has(digest),
      },
    };
  },
  "a second revocation has its own time": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      async revoke(id, time) {
        const record = await apiKeys.revoke(id, time);
        return record && { ...record, revoked: time };
      },
    },
  }),
  "an unknown record is revoked": ({ apiKeys }) => ({
    apiKeys: {
      ...apiKeys,
      async revoke(id, time) {
        const record = await apiKeys.revoke(id, time);
        return record ?? { id, name: "", created: time, revoked: time };
      },
    },
  }),
  "records are shared": ({ apiKeys }) => {
    let shared: readonly ApiKeyRecord[] = [];
    return {
      apiKeys: {
        ...apiKeys,
        async insert(record) {
          const inserted = await apiKeys.insert(record);
          shared = [...shared, inserted];
          return inserted;
        },
        list: async () => shared,
      },
    };
  },
} as const satisfies Readonly<Record<string, Fault>>;

/** What can be wrong with the storage. */
export type FaultName = keyof typeof FAULTS;

const GHOST: Pet = {
  id: petId(1n),
  name: "Ghost",
  categoryId: 1n,
  status: "sold",
};

/** Makes an empty place, and returns a function that opens a storage there, with the fault if one is named. */
export function newFaultyPlace(
  name?: FaultName,
): () => Promise<PetDatabase> {
  const kept = memoryStorage();
  const fault: Fault = name === undefined ? () => ({}) : FAULTS[name];
  return async () => {
    const sound = viewOf(kept);
    return { ...sound, ...fault(sound) };
  };
}

/** A storage that can be closed without what it shows. */
function viewOf({ apiKeys, ...storage }: PetDatabase): PetDatabase {
  let isClosed = false;

  function whileOpen<Values extends readonly unknown[], Result>(
    method: (...values: Values) => Promise<Result>,
  ): (...values: Values) => Promise<Result> {
    return async (...values) => {
      if (isClosed) throw new StorageError("unavailable", "closed");
      return await method(...values);
    };
  }

  return {
    create: whileOpen(storage.create),
    get: whileOpen(storage.get),
    list: whileOpen(storage.list),
    ping: whileOpen(storage.ping),
    async close() {
      isClosed = true;
    },
    apiKeys: {
      insert: whileOpen(apiKeys.insert),
      insertFirst: whileOpen(apiKeys.insertFirst),
      isActive: whileOpen(apiKeys.isActive),
      list: whileOpen(apiKeys.list),
      revoke: whileOpen(apiKeys.revoke),
    },
  };
}

function without(hidden: ReadonlySet<bigint>, page: PetPage): PetPage {
  return { ...page, pets: page.pets.filter(({ id }) => !hidden.has(id)) };
}

function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

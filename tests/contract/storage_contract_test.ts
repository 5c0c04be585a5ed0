/** The contract of a storage blames each fault by the clause that it breaks, and a sound storage for nothing. */

import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage, type PetDatabase } from "../../adapters/memory/mod.ts";
import type {
  ApiKeyRecord,
  ApiKeyStorage,
} from "../../core/keys/issued_keys.ts";
import { type Pet, petId } from "../../core/pets/pet.ts";
import { type PetPage, StorageError } from "../../core/pets/pet_storage.ts";
import {
  apiKeyStorageContract,
  idempotencyContract,
  petStorageContract,
  storageContract,
} from "./storage/mod.ts";

type Created = ReturnType<PetDatabase["create"]>;

/** Makes a storage that breaks a promise of one that keeps all. */
type Fault = (sound: PetDatabase) => Partial<PetDatabase>;

/** A fault that breaks each clause, or another clause whose fault breaks this one as well. */
const FAULTS: Readonly<Record<string, Fault | string>> = {
  "create returns the pet with an id, and get finds it": () => ({
    get: async () => undefined,
  }),
  "get returns undefined if no pet has the id": ({ get }) => ({
    get: (id) => get(petId(BigInt.asUintN(32, id))),
  }),
  "create, get and list keep a delicate name exactly": ({ create }) => ({
    create: (pet, options) =>
      create({ ...pet, name: pet.name.normalize() }, options),
  }),
  "create, get and list keep any int64 exactly": ({ create }) => ({
    create(pet, options) {
      const categoryId = BigInt.asIntN(64, BigInt(Number(pet.categoryId)));
      return create({ ...pet, categoryId }, options);
    },
  }),
  "get and list find nothing if nothing was created": ({ list }) => ({
    async list(query) {
      const page = await list(query);
      return page.pets.length > 0 ? page : { pets: [GHOST] };
    },
  }),
  "list returns pages that together are all pets that match, in order": (
    { list },
  ) => ({
    async list({ limit, after = 0n, status }) {
      const page = await list({ limit, after });
      const pets = page.pets.filter((pet) => pet.status === status);
      return status === undefined ? page : { ...page, pets };
    },
  }),
  "list starts after any int64": ({ list }) => ({
    list: (query) =>
      list({ ...query, after: BigInt.asIntN(32, query.after ?? 0n) }),
  }),
  "list has a last id exactly when more pets match": ({ list }) => ({
    async list(query) {
      const { pets } = await list(query);
      const last = pets.at(-1)?.id;
      return last === undefined ? { pets } : { pets, last };
    },
  }),
  "a walk during creates sees each earlier pet once, in order": ({ list }) => ({
    async list(query) {
      const page = await list(query);
      const isFirst = (query.after ?? 0n) <= 0n;
      return { ...page, pets: page.pets.slice(isFirst ? 0 : 1) };
    },
  }),
  "create gives each pet an id that is greater than all before": (
    { create },
  ) => ({
    async create(pet, options) {
      const created = await create(pet, options);
      return { ...created, id: petId(2n ** 40n - created.id) };
    },
  }),
  "create gives each of 300 pets at once an id of its own": ({ create }) => {
    let pending: Created | undefined;
    return {
      create: (pet, options) =>
        pending ??= create(pet, options).finally(() => pending = undefined),
    };
  },
  "get and list see a pet once its create is fulfilled": ({ create, list }) => {
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
  "ids become visible in ascending order": ({ create, list }) => {
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
  "a change of an object that was passed in or returned changes no pet": (
    { create, get, list },
  ) => {
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
  "ping is fulfilled while the storage is open": () => ({
    ping: () => Promise.reject(new Error()),
  }),
  "close finishes the creates under way": ({ create }) => ({
    async create(pet, options) {
      await aWhile();
      return await create(pet, options);
    },
  }),
  "close may be called more than once": ({ close }) => {
    let isClosed = false;
    return {
      async close() {
        if (isClosed) throw new Error("closed");
        isClosed = true;
        await close();
      },
    };
  },
  "every method rejects as unavailable after close": ({ get, apiKeys }) => ({
    get: (id) => get(id).catch(() => Promise.reject(new Error("closed"))),
    apiKeys: {
      ...apiKeys,
      list: () => apiKeys.list().catch(() => []),
    },
  }),
  "apiKeys: every method rejects as unavailable after close":
    "every method rejects as unavailable after close",
  "a storage that is opened again has every pet": () => memoryStorage(),
  "a storage that is opened again has the pets that were being created during close":
    "a storage that is opened again has every pet",
  "a new place can be opened 16 times at once":
    "a storage that is opened again has every pet",
  "a storage sees a pet once a create is fulfilled in another":
    "a storage that is opened again has every pet",
  "a storage that is opened again knows the idempotency keys":
    "a storage that is opened again has every pet",
  "apiKeys: a storage that is opened again has every record":
    "a storage that is opened again has every pet",
  "a storage that is opened again gives greater ids than before": (
    { create },
  ) => {
    let first: bigint | undefined;
    return {
      async create(pet, options) {
        const created = await create(pet, options);
        first ??= created.id;
        return { ...created, id: petId(created.id - first + 1n) };
      },
    };
  },
  "create adds one pet if its idempotency key is sent again": ({ create }) => ({
    create: (pet) => create(pet),
  }),
  "create tells new, known and missing idempotency keys apart if all are sent at once":
    "create adds one pet if its idempotency key is sent again",
  "create adds a pet for each idempotency key, and for each create without one":
    ({ create }) => ({
      create: (pet, { idempotencyKey } = {}) =>
        create(pet, idempotencyKey === undefined ? {} : { idempotencyKey: "" }),
    }),
  "create gives greater ids after an idempotency key was sent again":
    "create adds a pet for each idempotency key, and for each create without one",
  "create returns the first pet of an idempotency key, whatever is sent with it later":
    ({ create }) => ({
      async create(pet, options) {
        const created = await create(pet, options);
        return created.replayed ? { ...created, ...pet } : created;
      },
    }),
  "create adds one pet if its idempotency key is sent 64 times at once": (
    { create },
  ) => {
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
  "create adds one pet for each idempotency key that several storages send at once":
    "create adds one pet if its idempotency key is sent 64 times at once",
  "apiKeys: insert numbers records from 1, and list returns them in order":
    ofKeys((apiKeys) => ({
      async insert(record) {
        const inserted = await apiKeys.insert(record);
        return { ...inserted, id: inserted.id - 1 };
      },
    })),
  "apiKeys: insert and list keep a delicate name exactly": ofKeys((
    apiKeys,
  ) => ({
    insert: (record) => apiKeys.insert({ ...record, name: record.name.trim() }),
  })),
  "apiKeys: insert, revoke and list keep times to the millisecond": ofKeys((
    apiKeys,
  ) => ({
    revoke: (id, time) =>
      apiKeys.revoke(id, new Date(time.getTime() - time.getMilliseconds())),
  })),
  "apiKeys: insert rejects a digest that exists": ofKeys((apiKeys) => ({
    insert: (record) =>
      apiKeys.insert(record).catch(() =>
        apiKeys.insert({ ...record, digest: `${record.digest}0` })
      ),
  })),
  "apiKeys: insertFirst keeps one record if 20 are sent at once": ofKeys((
    apiKeys,
  ) => ({
    async insertFirst(record) {
      const isFirst = (await apiKeys.list()).length === 0;
      await aWhile();
      return isFirst ? await apiKeys.insert(record) : undefined;
    },
  })),
  "apiKeys: insertFirst keeps one record if 16 storages send one at once":
    "apiKeys: insertFirst keeps one record if 20 are sent at once",
  "apiKeys: insertFirst keeps nothing if there was ever a record, a revoked one too":
    ofKeys((apiKeys) => ({
      async insertFirst(record) {
        const records = await apiKeys.list();
        return records.every(({ revoked }) => revoked !== undefined)
          ? await apiKeys.insert(record)
          : undefined;
      },
    })),
  "apiKeys: a storage sees a revocation once it is fulfilled in another":
    ofKeys((apiKeys) => {
      const active = new Set<string>();
      return {
        async isActive(digest) {
          if (await apiKeys.isActive(digest)) active.add(digest);
          return active.has(digest);
        },
      };
    }),
  "apiKeys: isActive is true for the digests of keys that are not revoked":
    ofKeys((apiKeys) => {
      const digests = new Set<string>();
      return {
        insert(record) {
          digests.add(record.digest);
          return apiKeys.insert(record);
        },
        isActive: async (digest) => digests.has(digest),
      };
    }),
  "apiKeys: revoke keeps the time of the first revocation": ofKeys((
    apiKeys,
  ) => ({
    async revoke(id, time) {
      const record = await apiKeys.revoke(id, time);
      return record && { ...record, revoked: time };
    },
  })),
  "apiKeys: revoke returns undefined if no record has the id": ofKeys((
    apiKeys,
  ) => ({
    async revoke(id, time) {
      const record = await apiKeys.revoke(id, time);
      return record ?? { id, name: "", created: time, revoked: time };
    },
  })),
  "apiKeys: a change of a date that was passed in or returned changes no record":
    ofKeys((apiKeys) => {
      let shared: readonly ApiKeyRecord[] = [];
      return {
        async insert(record) {
          const inserted = await apiKeys.insert(record);
          shared = [...shared, inserted];
          return inserted;
        },
        list: async () => shared,
      };
    }),
};

const GHOST: Pet = {
  id: petId(1n),
  name: "Ghost",
  categoryId: 1n,
  status: "sold",
};

/** A fault of the storage of API keys. */
function ofKeys(
  fault: (sound: ApiKeyStorage) => Partial<ApiKeyStorage>,
): Fault {
  return ({ apiKeys }) => ({ apiKeys: { ...apiKeys, ...fault(apiKeys) } });
}

/** Makes an empty place, and returns a function that opens a storage there. */
function newPlace(
  fault: Fault = () => ({}),
): () => Promise<PetDatabase> {
  const kept = memoryStorage();
  return async () => {
    const sound = viewOf(kept);
    return { ...sound, ...fault(sound) };
  };
}

/** A storage that can be closed without what it shows. */
function viewOf({ apiKeys, ...storage }: PetDatabase): PetDatabase {
  let isClosed = false;

  function whileOpen<Methods extends object>(methods: Methods): Methods {
    const guarded = Object.entries(methods).map(([name, method]) => [
      name,
      async (...values: readonly unknown[]) => {
        if (isClosed) throw new StorageError("unavailable", "closed");
        return await method(...values);
      },
    ]);
    return Object.fromEntries(guarded);
  }

  return {
    ...whileOpen(storage),
    apiKeys: whileOpen(apiKeys),
    async close() {
      isClosed = true;
    },
  };
}

function without(hidden: ReadonlySet<bigint>, page: PetPage): PetPage {
  return { ...page, pets: page.pets.filter(({ id }) => !hidden.has(id)) };
}

function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

type Contract = typeof storageContract;

/** The clauses that a contract registers for a storage, by title. */
function clausesOf(
  fault?: Fault,
  contract: Contract = storageContract,
): ReadonlyMap<string, () => Promise<void>> {
  const clauses = new Map<string, () => Promise<void>>();
  contract({
    it(title, check) {
      assert.ok(!clauses.has(title), title);
      clauses.set(title, check);
    },
    open: async () => await newPlace(fault)(),
    newPlace: async () => newPlace(fault),
  });
  return clauses;
}

for (const [title, fault] of Object.entries(FAULTS)) {
  test(`a fault breaks the clause: ${title}`, async () => {
    const other = typeof fault === "string" ? FAULTS[fault] : fault;
    assert.ok(typeof other === "function", title);
    await assert.rejects(async () => await clausesOf(other).get(title)?.());
  });
}

test("a storage without a fault keeps every clause", async () => {
  for (const [title, check] of clausesOf()) {
    await assert.doesNotReject(check, title);
  }
});

test("every clause of the contract is broken by a fault", () => {
  assert.deepEqual([...clausesOf().keys()].sort(), Object.keys(FAULTS).sort());
});

test("the contracts of pets, idempotency keys and API keys together are the whole", () => {
  const alone = [petStorageContract, idempotencyContract, apiKeyStorageContract]
    .flatMap((contract) => [...clausesOf(undefined, contract).keys()]);
  assert.deepEqual(alone, [...clausesOf().keys()]);
});

test("the clauses on what outlives a storage are registered only if there are places", () => {
  const titles: string[] = [];
  storageContract({
    it: (title) => titles.push(title),
    open: async () => await newPlace()(),
  });
  const others = [...clausesOf().keys()]
    .filter((title) => !titles.includes(title));
  assert.equal(others.length, 10);
});

/** The contract of a storage blames each fault by the clause that it breaks, and a sound storage for nothing. */

import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage, type PetDatabase } from "../../adapters/memory/mod.ts";
import type {
  ApiKeyRecord,
  ApiKeyStorage,
} from "../../core/keys/issued_keys.ts";
import { type Pet, petId } from "../../core/pets/pet.ts";
import type { Page } from "../../core/pets/page.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import {
  apiKeyStorageContract,
  type ContractOptions,
  idempotencyContract,
  petStorageContract,
  retentionContract,
  storageContract,
} from "./storage/mod.ts";

type Create = PetDatabase["create"];
type Created = ReturnType<Create>;
type Retention = { readonly idempotencyRetention?: number };

/** Makes a storage that breaks a promise of one that keeps all. */
type Fault = (sound: PetDatabase, options: Retention) => Partial<PetDatabase>;

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
  "an idempotency key is known until its retention ends": (
    _,
    { idempotencyRetention = 0 },
  ) => memoryStorage({ idempotencyRetention: idempotencyRetention / 1000 }),
  "an idempotency key ends with its retention, and its pet stays": () =>
    memoryStorage(),
  "an idempotency key that is sent again ends no later": (
    _,
    { idempotencyRetention = 0 },
  ) => {
    const { create } = memoryStorage();
    let [until, generation] = [0, 0];
    return {
      create(pet) {
        if (performance.now() > until) generation++;
        until = performance.now() + idempotencyRetention;
        return create(pet, { idempotencyKey: `${generation}` });
      },
    };
  },
  "with a retention of 0 every create adds a pet": (
    _,
    { idempotencyRetention },
  ) => memoryStorage({ idempotencyRetention: idempotencyRetention || 1000 }),
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
  "apiKeys: find, if the storage has it, returns the record of a digest, a revoked one too":
    ofKeys((apiKeys) => ({
      find: async (digest) =>
        await apiKeys.isActive(digest)
          ? await apiKeys.find?.(digest)
          : undefined,
    })),
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

const WITH_KEY =
  "create keeps a pet exactly if it is sent with an idempotency key, and returns it again";

/** A change of a pet that is given or returned. */
type Change = <P extends Omit<Pet, "id">>(pet: P) => P;

/** Changes of a pet, by the clause that blames them and by name. */
const CHANGES: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  "create, get and list keep a delicate name exactly": {
    "drops the name": (pet) => ({ ...pet, name: "Rex" }),
    "cuts the name": (pet) => ({ ...pet, name: pet.name.slice(0, 255) }),
  },
  "create, get and list keep any int64 exactly": {
    "drops the category": (pet) => ({ ...pet, categoryId: 1n }),
    "rounds the category": (pet) => {
      const rounded = BigInt(Number(pet.categoryId));
      return { ...pet, categoryId: BigInt.asIntN(64, rounded) };
    },
  },
  "create, get and list keep each status": {
    "drops the status": (pet) => ({ ...pet, status: "available" }),
  },
};

/** Makes a fault of a change in each place where a pet is given or returned. */
function inPlaces(change: Change): Readonly<Record<string, Fault>> {
  const changePage = (page: Page) => ({
    ...page,
    pets: page.pets.map(change),
  });
  return {
    "is kept": given("create", (pet, key) => [change(pet), key]),
    "is kept with a key": given(
      "create",
      (pet, key) => key ? [change(pet), key] : [pet],
    ),
    "create returns": returned("create", change),
    "create returns for a known key": returned(
      "create",
      (pet) => pet.replayed ? change(pet) : pet,
    ),
    "get returns": returned("get", (pet) => pet && change(pet)),
    "list returns": returned("list", changePage),
    "list returns for a status": returned(
      "list",
      (page, { status }) => status ? changePage(page) : page,
    ),
  };
}

/** Faults that operators make of a sound storage, by the clause that blames them and by name. */
const OPERATED: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  "a change of a pet that one caller was returned changes none that another is":
    {
      "shares a pet among creates with a key": ({ create }) => {
        const shared = atOnce(async (...given: Given<"create">) => ({
          ...await create(...given),
        }));
        return { create: (pet, key) => (key ? shared : create)(pet, key) };
      },
      "shares a pet among gets": ({ get }) => ({
        get: atOnce(async (id) => {
          const pet = await get(id);
          return pet && { ...pet };
        }),
      }),
      "shares a pet among lists": ({ list }) => ({
        list: atOnce(async (query) => {
          const { pets } = await list(query);
          return { pets: pets.map((pet) => ({ ...pet })) };
        }),
      }),
    },
  "create returns to each of 300 at once the pet that it was given, with its id":
    {
      "swaps the answers of creates at once": ({ create }) => ({
        create: swapAtOnce(create),
      }),
    },
  "create tells new, known and missing idempotency keys apart if all are sent at once":
    {
      "swaps the answers of creates at once with a key": ({ create }) => {
        const swap = swapAtOnce(create);
        return { create: (pet, key) => (key ? swap : create)(pet, key) };
      },
    },
  "list returns pages that together are all pets that match, in order": {
    "swaps the pets of a page": returned(
      "list",
      (page) => ({ ...page, pets: page.pets.toReversed() }),
    ),
    "drops the status of a query": given(
      "list",
      ({ status: _, ...query }) => [query],
    ),
  },
  "list starts after any int64": {
    "repeats the last pet of a page on the next": given(
      "list",
      ({ after = 1n, ...query }) => [{ ...query, after: after - 1n }],
    ),
    "rounds the id of a query": given(
      "list",
      ({ after = 0n, ...query }) => [{ ...query, after: after & ~1n }],
    ),
  },
  "list has a last id exactly when more pets match": {
    "drops the last id": returned("list", ({ pets }) => ({ pets })),
    "repeats the last id when no more pets match": returned(
      "list",
      ({ pets, last = pets.at(-1)?.id }) => last ? { pets, last } : { pets },
    ),
  },
  "create adds a pet for each idempotency key, and for each create without one":
    {
      "repeats a create": ({ create }) => ({
        create: (pet, key) => create(pet).then(() => create(pet, key)),
      }),
    },
  "create gives each pet an id that is greater than all before": {
    "repeats an id": returned(
      "create",
      (pet) => ({ ...pet, id: petId((pet.id + 1n) / 2n) }),
    ),
  },
  "create returns the first pet of an idempotency key, whatever is sent with it later":
    {
      "drops that the pet is returned again": returned(
        "create",
        ({ replayed: _, ...pet }) => pet,
      ),
    },
  "get and list see a pet once its create is fulfilled": {
    "delays what get returns": ({ create, get }) => {
      let shown = 0n;
      return {
        async create(pet, key) {
          const created = await create(pet, key);
          setTimeout(() => shown = created.id, 1);
          return created;
        },
        get: async (id) => id > shown ? undefined : await get(id),
      };
    },
  },
  "apiKeys: insert numbers records from 1, and list returns them in order": {
    "swaps the records": ofKeys(({ list }) => ({
      list: async () => (await list()).toReversed(),
    })),
  },
  "apiKeys: insert, revoke and list keep times to the millisecond": {
    "rounds the times of records": ofKeys(({ list }) => ({
      list: async () =>
        (await list()).map((record) => ({
          ...record,
          created: new Date(record.created.setMilliseconds(0)),
        })),
    })),
  },
  "apiKeys: insertFirst keeps one record if 20 are sent at once": {
    "drops the record that is kept": ofKeys(({ insertFirst }) => ({
      insertFirst: (record) => insertFirst(record).then(() => undefined),
    })),
  },
  "apiKeys: isActive is true for the digests of keys that are not revoked": {
    "drops revocations": ofKeys(({ list }) => ({
      isActive: async () => (await list()).length > 0,
    })),
  },
};

/** A fault that changes what a method returns. */
function returned<N extends Name>(
  name: N,
  change: (
    value: Returned<N>,
    ...given: Given<N>
  ) => Returned<N>,
): Fault {
  return (sound) => {
    const method = sound[name] as Method<N>;
    return {
      [name]: async (...given: Given<N>) =>
        change(await method(...given), ...given),
    };
  };
}

/** A fault that changes what a method is given. */
function given<N extends Name>(
  name: N,
  change: (
    ...given: Given<N>
  ) => Given<N>,
): Fault {
  return (sound) => {
    const method = sound[name] as Method<N>;
    return {
      [name]: (...given: Given<N>) => method(...change(...given)),
    };
  };
}

type Name = "create" | "get" | "list";
type Given<N extends Name> = Parameters<PetDatabase[N]>;
type Returned<N extends Name> = Awaited<ReturnType<PetDatabase[N]>>;
type Method<N extends Name> = (...given: Given<N>) => Promise<Returned<N>>;

/** Returns what one call returned to all that are made at once. */
function atOnce<Values extends readonly unknown[], Result>(
  call: (...values: Values) => Promise<Result>,
): (...values: Values) => Promise<Result> {
  let shared: Promise<Result> | undefined;
  return (...values) =>
    shared ??= call(...values).finally(() => shared = undefined);
}

/** Gives two creates that are under way at once the pets of each other. */
function swapAtOnce(create: Create): Create {
  let first: { own: Created; give(other: Created): void } | undefined;
  return (pet, options) => {
    const own = create(pet, options);
    if (first !== undefined) {
      const other = first;
      first = undefined;
      other.give(own);
      return other.own;
    }
    return new Promise((give) => {
      first = { own, give };
      void own.catch(() => {}).then(() => {
        if (first?.own === own) first = undefined;
        give(own);
      });
    });
  };
}

/** A fault of the storage of API keys. */
function ofKeys(
  fault: (sound: ApiKeyStorage) => Partial<ApiKeyStorage>,
): Fault {
  return ({ apiKeys }) => ({ apiKeys: { ...apiKeys, ...fault(apiKeys) } });
}

/** Makes an empty place, and returns a function that opens a storage there. */
function newPlace(
  fault: Fault = () => ({}),
  options: Retention = {},
): () => Promise<PetDatabase> {
  const kept = memoryStorage(options);
  return async () => {
    const sound = viewOf(kept);
    return { ...sound, ...fault(sound, options) };
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

function without(hidden: ReadonlySet<bigint>, page: Page): Page {
  return { ...page, pets: page.pets.filter(({ id }) => !hidden.has(id)) };
}

function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

type Contract = (
  options: Required<ContractOptions<PetDatabase>> & {
    readonly open: (options?: Retention) => Promise<PetDatabase>;
  },
) => void;

/** The clauses that contracts register for a storage, by title. */
function clausesOf(
  fault?: Fault,
  contracts: readonly Contract[] = [storageContract, retentionContract],
): ReadonlyMap<string, () => Promise<void>> {
  const clauses = new Map<string, () => Promise<void>>();
  for (const contract of contracts) {
    contract({
      it(title, check) {
        assert.ok(!clauses.has(title), title);
        clauses.set(title, check);
      },
      open: async (options: Retention = {}) => await newPlace(fault, options)(),
      newPlace: async () => newPlace(fault),
    });
  }
  return clauses;
}

/** Asserts that a clause blames a fault, in words that say of what. */
async function assertBlamed(fault: Fault, title: string): Promise<void> {
  await assert.rejects(
    async () => await clausesOf(fault).get(title)?.(),
    ({ message }: Error) => {
      assert.doesNotMatch(message, /^(Expected|Missing|Got|The expr|[\w']+ !)/);
      return true;
    },
    `not blamed: ${title}`,
  );
}

for (const [title, fault] of Object.entries(FAULTS)) {
  test(`a fault breaks the clause: ${title}`, async () => {
    const other = typeof fault === "string" ? FAULTS[fault] : fault;
    assert.ok(typeof other === "function", title);
    await assertBlamed(other, title);
  });
}

for (const [title, changes] of Object.entries(CHANGES)) {
  for (const [name, change] of Object.entries(changes)) {
    for (const [place, fault] of Object.entries(inPlaces(change))) {
      test(`a storage that ${name} of a pet that ${place} is blamed`, async () => {
        await assertBlamed(fault, place.includes("key") ? WITH_KEY : title);
      });
    }
  }
}

for (const [title, faults] of Object.entries(OPERATED)) {
  for (const [name, fault] of Object.entries(faults)) {
    test(`a storage that ${name} is blamed: ${title}`, async () => {
      await assertBlamed(fault, title);
    });
  }
}

test("a storage without a fault keeps every clause, and so does one that cannot find a key by its digest", async () => {
  const without: Fault = ({ apiKeys: { find: _, ...apiKeys } }) => ({
    apiKeys,
  });
  for (const fault of [undefined, without]) {
    for (const [title, check] of clausesOf(fault)) {
      await assert.doesNotReject(check, title);
    }
  }
});

test("every clause of the contract is broken by a fault", () => {
  const broken = Object.keys({ ...FAULTS, ...CHANGES, ...OPERATED });
  const titles = [...clausesOf().keys()].sort();
  assert.deepEqual(titles, [...broken, WITH_KEY].sort());
});

test("the contracts of pets, idempotency keys and API keys together are the whole", () => {
  const parts = [
    petStorageContract,
    idempotencyContract,
    apiKeyStorageContract,
  ];
  assert.deepEqual(
    [...clausesOf(undefined, parts).keys()],
    [...clausesOf(undefined, [storageContract]).keys()],
  );
});

test("the clauses on what outlives a storage are registered only if there are places", () => {
  const titles: string[] = [];
  storageContract({
    it: (title) => titles.push(title),
    open: async () => await newPlace()(),
  });
  const others = [...clausesOf(undefined, [storageContract]).keys()]
    .filter((title) => !titles.includes(title));
  assert.equal(others.length, 10);
});

test("a clause ends after a minute if the storage does not answer, and tells the framework that it may take longer", async (t) => {
  const { setTimeout } = globalThis;
  t.after(() => void Object.assign(globalThis, { setTimeout }));
  Object.assign(globalThis, {
    setTimeout: (then: () => void, ms: number) =>
      setTimeout(then, ms < 60_000 ? ms : 20),
  });
  const clauses: [check: () => Promise<void>, timeout: number][] = [];
  petStorageContract({
    it: (_title, check, timeout) => clauses.push([check, timeout]),
    open: newPlace(() => ({ create: () => new Promise(() => {}) })),
  });
  const [check, timeout] = clauses[0] ?? [];
  assert.ok(check !== undefined && Number(timeout) > 60_000);
  await assert.rejects(check, /did not answer, or not within 60 s/);
});

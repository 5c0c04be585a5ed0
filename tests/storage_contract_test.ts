/**
 * The storage contract fails each fault with the clause that it breaks, and passes a sound storage.
 */

import assert from "node:assert/strict";
import test from "node:test";
import {
  memoryStorage,
  type PetDatabase,
} from "../adapters/storage/memory/mod.ts";
import type { ApiKeyRecord, ApiKeyStorage } from "../core/api_key_storage.ts";
import { type Pet, petId } from "../core/pets/pet.ts";
import type { Page, PageRequest } from "../core/pets/page.ts";
import { StorageError } from "../core/pets/pet_storage.ts";
import {
  type ContractOptions,
  petStorageContract,
  retentionContract,
  storageContract,
} from "./contract/storage/mod.ts";
import { REX } from "./support/pets.ts";

type Retention = { readonly idempotencyRetention?: number };

/** Makes a storage that breaks a promise from one that keeps them all. */
type Fault = (sound: PetDatabase, options: Retention) => Partial<PetDatabase>;
type Faults = Readonly<Record<string, Fault>>;

/** A change of a pet that is passed in or returned. */
type Change = <P extends Omit<Pet, "id">>(pet: P) => P;

const WITH_KEY =
  "create keeps a pet exactly with an idempotency key, and returns it again";

/** Changes of a pet, by the clause that detects them and by name. */
const CHANGES: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  "create, get and list keep a delicate name exactly": {
    "drops the name": (pet) => ({ ...pet, name: "Rex" }),
    "cuts the name": (pet) => ({ ...pet, name: pet.name.slice(0, 255) }),
    "normalizes the name": (pet) => ({ ...pet, name: pet.name.normalize() }),
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

type Method = (...given: never) => Promise<unknown>;
type Given<M> = Parameters<Extract<M, Method>>;
type Returned<M> = Awaited<ReturnType<Extract<M, Method>>>;

/** Makes faults of a method that change what is passed in, or what is returned. */
function faultsOf<Part, N extends keyof Part>(
  name: N,
  faultOf: (change: (sound: Part) => Partial<Part>) => Fault,
) {
  type Call = (
    ...given: Given<Part[N]>
  ) => Promise<Returned<Part[N]>>;
  const spoiled = (spoil: (sound: Call) => Call) =>
    faultOf((sound) => ({ ...sound, [name]: spoil(sound[name] as Call) }));
  return {
    given: (change: (...given: Given<Part[N]>) => Given<Part[N]>) =>
      spoiled((call) => (...given) => call(...change(...given))),
    returned: (
      change: (
        value: Returned<Part[N]>,
        ...given: Given<Part[N]>
      ) => Returned<Part[N]>,
    ) =>
      spoiled((call) => (...given) =>
        call(...given).then((value) => change(value, ...given))
      ),
  };
}

const ofPets = (fault: (sound: PetDatabase) => Partial<PetDatabase>): Fault =>
  fault;
const create = faultsOf("create", ofPets);
const get = faultsOf("get", ofPets);
const list = faultsOf("list", ofPets);

const insert = faultsOf("insert", ofKeys);
const insertFirst = faultsOf("insertFirst", ofKeys);
const find = faultsOf("find", ofKeys);
const listKeys = faultsOf("list", ofKeys);
const revoke = faultsOf("revoke", ofKeys);
const markUsed = faultsOf("markUsed", ofKeys);
const markAllUsed = faultsOf("markAllUsed", ofKeys);

/** Changes the ids of the pets that create returns. */
const numbered = (change: (id: bigint) => bigint): Fault =>
  create.returned((pet) => ({ ...pet, id: petId(change(pet.id)) }));

/** Changes the id after which list is asked for pets. */
const queried = (change: (after: bigint) => bigint): Fault =>
  list.given(({ after = 0n, ...query }) => [
    { ...query, after: change(after) },
  ]);

/** Makes a fault from a change, in each place where a pet is passed in or returned. */
function inPlaces(change: Change): Faults {
  const changePage = (page: Page) => ({
    ...page,
    pets: page.pets.map(change),
  });
  return {
    "is kept": create.given((pet, key) => [change(pet), key]),
    "is kept with a key": create.given((pet, key) =>
      key ? [change(pet), key] : [pet]
    ),
    "create returns": create.returned(change),
    "create returns for a known key": create.returned((pet) =>
      pet.replayed ? change(pet) : pet
    ),
    "get returns": get.returned((pet) => pet && change(pet)),
    "list returns": list.returned(changePage),
    "list returns for a status": list.returned((page, { status }) =>
      status ? changePage(page) : page
    ),
  };
}

const forgets: Fault = () => memoryStorage();
const forgetsKeys = create.given((pet) => [pet]);
const sharesKeys = create.given((pet, key) =>
  key ? [pet, { idempotencyKey: "" }] : [pet]
);
const looksBeforeItKeeps: Fault = ({ create }) => {
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
};
const looksBeforeItInserts = ofKeys(({ insert, list }) => ({
  async insertFirst(record) {
    const isFirst = (await list()).length === 0;
    await aWhile();
    return isFirst ? await insert(record) : undefined;
  },
}));
const answersAfterClose: Fault = ({ get, apiKeys }) => ({
  get: (id) => get(id).catch(() => Promise.reject(new Error("closed"))),
  apiKeys: { ...apiKeys, list: () => apiKeys.list().catch(() => []) },
});

/** Faults, by the clause that detects them and, if there are several, by name. */
const FAULTS: Readonly<Record<string, Fault | Faults>> = {
  "create returns the pet with an id, and get finds it": get.returned(() =>
    undefined
  ),
  "get returns undefined if no pet has the id": get.given((id) => [
    petId(BigInt.asUintN(32, id)),
  ]),
  "get and list find nothing if nothing was created": list.returned((page) =>
    page.pets.length > 0 ? page : { pets: [{ ...REX, id: petId(1n) }] }
  ),
  "list returns pages that together are all pets that match, in order": {
    "filters a page after it is cut": ({ list }) => ({
      async list({ status, ...query }) {
        const page = await list(query);
        const pets = page.pets.filter((pet) => pet.status === status);
        return status === undefined ? page : { ...page, pets };
      },
    }),
    "swaps the pets of a page": list.returned((page) => ({
      ...page,
      pets: page.pets.toReversed(),
    })),
    "drops the status of a query": list.given((
      { status: _, ...query },
    ) => [query]),
  },
  "list starts after any int64": {
    "cuts the id of a query": queried((after) => BigInt.asIntN(32, after)),
    "rounds the id of a query": queried((after) => after & ~1n),
    "repeats the last pet of a page on the next": queried((after) =>
      after - 1n
    ),
  },
  "list has a last id exactly when more pets match": {
    "drops the last id": list.returned(({ pets }) => ({ pets })),
    "repeats the last id when no more pets match": list.returned((
      { pets, last = pets.at(-1)?.id },
    ) => last ? { pets, last } : { pets }),
  },
  "a walk during creates sees each earlier pet once, in order": list.returned((
    page,
    { after = 0n },
  ) => after <= 0n ? page : { ...page, pets: page.pets.slice(1) }),
  "create gives each pet an id that is greater than all before": {
    "swaps the ids": numbered((id) => 2n ** 40n - id),
    "repeats an id": numbered((id) => (id + 1n) / 2n),
  },
  "create gives each of 300 pets at once an id of its own": ({ create }) => ({
    create: atOnce(create),
  }),
  "create returns to each of 300 at once the pet that it was given, with its id":
    ({ create }) => ({ create: swapAtOnce(create) }),
  "get and list see a pet once its create is fulfilled": {
    "delays what get returns": hiding("get", (_, show) => setTimeout(show, 1)),
    "delays what list returns": hiding(
      "list",
      (_, show) => setTimeout(show, 1),
    ),
  },
  "ids become visible in ascending order": hiding("list", async (id, show) => {
    if (id % 2n !== 0n) await aWhile().then(aWhile);
    show();
  }),
  "a change of an object that was passed in or returned changes no pet": (
    ...storage
  ) => {
    const shared = new Map<bigint, Pet>();
    const share = (pet: Pet): Pet => {
      const known = shared.get(pet.id) ?? { ...pet };
      shared.set(pet.id, known);
      return known;
    };
    const places = [
      create.returned(share),
      get.returned((pet) => pet && share(pet)),
      list.returned((page) => ({ ...page, pets: page.pets.map(share) })),
    ];
    return Object.assign({}, ...places.map((fault) => fault(...storage)));
  },
  "a change of a pet that one caller was returned changes none that another is":
    {
      "shares a pet among creates with a key": ({ create }) => {
        const shared = atOnce(create);
        return { create: (pet, key) => (key ? shared : create)(pet, key) };
      },
      "shares a pet among gets": ({ get }) => ({ get: atOnce(get) }),
      "shares a pet among lists": ({ list }) => ({ list: atOnce(list) }),
    },
  "ping is fulfilled while the storage is open": () => ({
    ping: () => Promise.reject(new Error()),
  }),
  "close finishes the creates under way": ({ create }) => ({
    create: (...given) => aWhile().then(() => create(...given)),
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
  "every method rejects as unavailable after close": answersAfterClose,
  "apiKeys: every method rejects as unavailable after close": answersAfterClose,
  "a storage that is opened again has every pet": forgets,
  "a storage that is opened again has the pets that were being created during close":
    forgets,
  "a new place can be opened 16 times at once": forgets,
  "a storage sees a pet once a create is fulfilled in another": forgets,
  "a storage that is opened again knows the idempotency keys": forgets,
  "apiKeys: a storage that is opened again has every record": forgets,
  "a storage that is opened again gives greater ids than before": (
    ...storage
  ) => {
    let first: bigint | undefined;
    return numbered((id) => id - (first ??= id) + 1n)(...storage);
  },
  "create adds one pet if its idempotency key is sent again": forgetsKeys,
  "create tells new, known and missing idempotency keys apart, sent at once": {
    "drops the key": forgetsKeys,
    "swaps the answers of creates at once with a key": ({ create }) => {
      const swap = swapAtOnce(create);
      return { create: (pet, key) => (key ? swap : create)(pet, key) };
    },
  },
  "create adds a pet for each idempotency key, and for each create without one":
    {
      "takes each key for the same": sharesKeys,
      "repeats a create": ({ create }) => ({
        create: (pet, key) => create(pet).then(() => create(pet, key)),
      }),
    },
  "create gives greater ids after an idempotency key was sent again":
    sharesKeys,
  "create returns the first pet of an idempotency key, whatever is sent later":
    {
      "returns what is sent": create.returned((pet, sent) =>
        pet.replayed ? { ...pet, ...sent } : pet
      ),
      "drops that the pet is returned again": create.returned((
        { replayed: _, ...pet },
      ) => pet),
    },
  "create adds one pet if its idempotency key is sent 64 times at once":
    looksBeforeItKeeps,
  "create adds one pet for each idempotency key that several storages send at once":
    looksBeforeItKeeps,
  "an idempotency key is known until its retention ends": (
    _,
    { idempotencyRetention = 0 },
  ) => memoryStorage({ idempotencyRetention: idempotencyRetention / 1000 }),
  "an idempotency key ends with its retention, and its pet stays": forgets,
  "an idempotency key that is sent again ends no later": (
    _,
    { idempotencyRetention = 0 },
  ) => {
    const { create } = memoryStorage();
    let generation = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      create(pet) {
        clearTimeout(timer);
        timer = setTimeout(() => generation++, idempotencyRetention);
        return create(pet, { idempotencyKey: `${generation}` });
      },
    };
  },
  "with a retention of 0 every create adds a pet": (
    _,
    { idempotencyRetention },
  ) => memoryStorage({ idempotencyRetention: idempotencyRetention || 1000 }),
  "apiKeys: insert numbers records from 1, and list returns them in order": {
    "numbers records from 0": insert.returned((record) => ({
      ...record,
      id: record.id - 1,
    })),
    "swaps the records": listKeys.returned((records) => records.toReversed()),
  },
  "apiKeys: insert and list keep a delicate name exactly": insert.given(
    (record) => [{ ...record, name: record.name.trim() }],
  ),
  "apiKeys: insert, revoke and list keep times to the millisecond": {
    "rounds the time of a revocation": revoke.given((id, time) => [
      id,
      seconds(time),
    ]),
    "rounds the times of records": listKeys.returned((records) =>
      records.map((one) => ({ ...one, created: seconds(one.created) }))
    ),
  },
  "apiKeys: insert rejects a digest that exists": ofKeys(({ insert }) => ({
    insert: (record) =>
      insert(record).catch(() =>
        insert({ ...record, digest: `${record.digest}0` })
      ),
  })),
  "apiKeys: insertFirst keeps one record if 20 are sent at once": {
    "looks before it inserts": looksBeforeItInserts,
    "drops the record that is kept": insertFirst.returned(() => undefined),
  },
  "apiKeys: insertFirst keeps one record if 16 storages send one at once":
    looksBeforeItInserts,
  "apiKeys: insertFirst keeps nothing if there was ever a record, a revoked one too":
    ofKeys(({ insert, list }) => ({
      async insertFirst(record) {
        const isValid = (await list()).some(({ revoked }) => !revoked);
        return isValid ? undefined : await insert(record);
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
  "apiKeys: isActive is true for the digests of keys that are not revoked": {
    "knows no revocations": ofKeys(({ insert }) => {
      const digests = new Set<string>();
      return {
        insert(record) {
          digests.add(record.digest);
          return insert(record);
        },
        isActive: async (digest) => digests.has(digest),
      };
    }),
    "knows no digests": ofKeys(({ list }) => ({
      isActive: async () => (await list()).length > 0,
    })),
  },
  "apiKeys: find, if the storage has it, returns the record of a digest, a revoked one too":
    find.returned((record) => record?.revoked ? undefined : record),
  "apiKeys: insert, if the storage has markUsed, keeps the expiry": {
    "drops the expiry": insert.given(({ expires: _, ...others }) => [others]),
    "finds no key": find.returned(() => undefined),
    "does not find the expiry": find.returned((record) => {
      const { expires: _, ...others } = record ?? assert.fail();
      return others;
    }),
  },
  "apiKeys: insertFirst, if the storage has markUsed, keeps the expiry":
    insertFirst.given(({ expires: _, ...others }) => [others]),
  "apiKeys: markUsed, if the storage has it, sets the latest day": {
    "notes nothing": ofKeys(() => ({ async markUsed() {} })),
    "notes any key": markUsed.given((_, day) => [2, day]),
    "keeps a day that is ahead": ofKeys((apiKeys) => ({
      async markUsed(id, day) {
        const records = await apiKeys.list();
        const { lastUsed = 0 } = records.find((one) => one.id === id) ?? {};
        if (Number(lastUsed) < Number(day)) await apiKeys.markUsed?.(id, day);
      },
    })),
    "goes back": ofKeys((apiKeys) => {
      let last: Date | undefined;
      return {
        async markUsed(id, day) {
          if (id === 1) last = day;
        },
        list: async () =>
          (await apiKeys.list()).map((record) =>
            record.id === 1 && last ? { ...record, lastUsed: last } : record
          ),
      };
    }),
  },
  "apiKeys: markAllUsed, if the storage has it, does what markUsed does for each":
    {
      "notes nothing": ofKeys(() => ({ async markAllUsed() {} })),
      "notes the first only": markAllUsed.given((ids, day) => [
        ids.slice(0, 1),
        day,
      ]),
      "notes one too many": markAllUsed.given((ids, day) => [[...ids, 4], day]),
    },
  "apiKeys: revoke keeps the time of the first revocation": revoke.returned(
    (record, _, revoked) => record && { ...record, revoked },
  ),
  "apiKeys: revoke returns undefined if no record has the id": revoke.returned(
    (record, id, created) =>
      record ?? { id, name: "", created, revoked: created },
  ),
  "apiKeys: a change of a date that was passed in or returned changes no record":
    ofKeys(({ insert }) => {
      const shared: ApiKeyRecord[] = [];
      return {
        async insert(record) {
          const inserted = await insert(record);
          shared.push(inserted);
          return inserted;
        },
        list: async () => shared,
      };
    }),
};

/** Hides created pets until `show` is called; create waits for `hide`. */
function hiding(
  from: "get" | "list",
  hide: (id: bigint, show: () => void) => unknown,
): Fault {
  return ({ create, get, list }) => {
    const hidden = new Set<bigint>();
    const isShown = ({ id }: Pick<Pet, "id">) => !hidden.has(id);
    const see = {
      get: async (id: Pet["id"]) => isShown({ id }) ? await get(id) : undefined,
      async list(query: PageRequest) {
        const page = await list(query);
        return { ...page, pets: page.pets.filter(isShown) };
      },
    };
    return {
      [from]: see[from],
      async create(pet, options) {
        const created = await create(pet, options);
        hidden.add(created.id);
        await hide(created.id, () => hidden.delete(created.id));
        return created;
      },
    };
  };
}

/** Returns the result of one call to all that are made at once. */
function atOnce<Values extends readonly unknown[], Result>(
  call: (...values: Values) => Promise<Result>,
): (...values: Values) => Promise<Result> {
  let shared: Promise<Result> | undefined;
  return (...values) =>
    shared ??= call(...values).then(structuredClone<Result>)
      .finally(() => shared = undefined);
}

/** Swaps the pets of creates that are under way at once: the first gets that of the last. */
function swapAtOnce(create: PetDatabase["create"]): PetDatabase["create"] {
  let all: ReturnType<typeof create>[] = [];
  return async (...given) => {
    const together = all;
    const place = together.push(create(...given)) - 1;
    await aWhile();
    all = [];
    return await (together.at(-1 - place) ?? assert.fail());
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

/** A storage that can be closed while what it shows remains. */
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

function seconds(time: Date): Date {
  return new Date(time.getTime() - time.getMilliseconds());
}

function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** The clauses that the contract registers for a storage, by title. */
function clausesOf(fault?: Fault): ReadonlyMap<string, () => Promise<void>> {
  const clauses = new Map<string, () => Promise<void>>();
  const collect: ContractOptions<PetDatabase>["it"] = (title, check) => {
    assert.ok(!clauses.has(title), title);
    clauses.set(title, check);
  };
  const open = (options?: Retention) => newPlace(fault, options)();
  storageContract({ it: collect, open, newPlace: async () => newPlace(fault) });
  retentionContract({ it: collect, open });
  return clauses;
}

/** Asserts that a clause fails on a fault, with a message that names it. */
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

for (const [title, one] of Object.entries(FAULTS)) {
  const faults = typeof one === "function" ? { "has a fault": one } : one;
  for (const [name, fault] of Object.entries(faults)) {
    test(`a storage that ${name} is blamed: ${title}`, async () => {
      await assertBlamed(fault, title);
    });
  }
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

/** A part of a storage that rejects as one that uses another copy of the package does. */
function withForeignErrors<Part extends object>(part: Part): Part {
  const calls = Object.entries(part).map(([name, value]) => [
    name,
    typeof value !== "function" ? value : async (...given: unknown[]) => {
      try {
        return await value(...given);
      } catch (error) {
        const { message, kind, retryAfter } = error as StorageError;
        throw Object.assign(new Error(message), { kind, retryAfter });
      }
    },
  ]);
  return Object.fromEntries(calls);
}

test("a storage without a fault keeps every clause, one without find and markUsed too", async () => {
  const older: Fault = ({ apiKeys: { markUsed: _, ...apiKeys } }) => ({
    apiKeys: {
      ...apiKeys,
      insert: ({ expires: _, ...record }) => apiKeys.insert(record),
    },
  });
  const without: Fault = (...sound) => {
    const { find: _, ...apiKeys } = older(...sound).apiKeys ?? assert.fail();
    return { apiKeys };
  };
  const foreign: Fault = ({ apiKeys, ...pets }) => ({
    ...withForeignErrors(pets),
    apiKeys: withForeignErrors(apiKeys),
  });
  for (const fault of [undefined, older, without, foreign]) {
    for (const [title, check] of clausesOf(fault)) {
      await assert.doesNotReject(check, title);
    }
  }
});

test("every clause of the contract is broken by a fault", () => {
  const broken = Object.keys({ ...FAULTS, ...CHANGES });
  const titles = [...clausesOf().keys()].sort();
  assert.deepEqual(titles, [...broken, WITH_KEY].sort());
});

test("the clauses on what outlives a storage are registered only if there are places", () => {
  const titles: string[] = [];
  storageContract({ it: (title) => titles.push(title), open: newPlace() });
  retentionContract({ it: (title) => titles.push(title), open: newPlace() });
  const others = new Set(clausesOf().keys()).difference(new Set(titles));
  assert.equal(others.size, 10);
});

test("a storage of one process has no clauses about storages that share a place", async () => {
  const registered = (isShared?: boolean) => {
    const titles: string[] = [];
    storageContract({
      it: (title) => titles.push(title),
      open: newPlace(),
      newPlace: async () => newPlace(),
      ...isShared !== undefined && { isShared },
    });
    return new Set(titles);
  };
  assert.deepEqual(registered(true), registered());
  assert.deepEqual([...registered().difference(registered(false))], [
    "a new place can be opened 16 times at once",
    "a storage sees a pet once a create is fulfilled in another",
    "create adds one pet for each idempotency key that several storages send at once",
    "apiKeys: insertFirst keeps one record if 16 storages send one at once",
    "apiKeys: a storage sees a revocation once it is fulfilled in another",
  ]);
});

test("a storage that can be opened once at a time keeps the clauses without isShared", async () => {
  let open = 0;
  const newExclusivePlace = () => {
    const openOne = newPlace();
    let isOpen = false;
    return async () => {
      assert.ok(!isOpen, "it is open");
      isOpen = true;
      open++;
      const storage = await openOne();
      return {
        ...storage,
        close: async () => {
          await storage.close();
          isOpen = false;
        },
      };
    };
  };
  const checks: (() => Promise<void>)[] = [];
  storageContract({
    it: (_title, check) => checks.push(check),
    open: () => newExclusivePlace()(),
    newPlace: async () => newExclusivePlace(),
    isShared: false,
  });
  for (const check of checks) await check();
  assert.ok(open > checks.length);
});

test("a clause ends after a minute if the storage does not answer", async (t) => {
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

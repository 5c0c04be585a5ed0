/** The contract of a storage blames each fault by the clause that it breaks, and a sound storage for nothing. */

import assert from "node:assert/strict";
import test from "node:test";
import { type FaultName, FAULTS, newFaultyPlace } from "./faulty_storage.ts";
import {
  apiKeyStorageContract,
  idempotencyContract,
  petStorageContract,
  storageContract,
} from "./storage/mod.ts";

/** The clauses that a storage with a fault breaks: at least these. */
const BREAKS: Readonly<Record<FaultName, readonly string[]>> = {
  "get never finds a pet": [
    "create returns the pet with an id, and get finds it",
  ],
  "get reads 32 bits of an id": ["get returns undefined if no pet has the id"],
  "names are normalised": [
    "create, get and list keep a delicate name exactly",
  ],
  "categories are rounded": ["create, get and list keep any int64 exactly"],
  "an empty list has a pet": [
    "get and list find nothing if nothing was created",
  ],
  "list ignores the status": [
    "list returns only pets with the status that is asked for",
  ],
  "list filters what is on the page": [
    "list returns pages that together are all pets that match, in order",
  ],
  "list reads 32 bits of an id": ["list starts after any int64"],
  "each page has a last id": [
    "list has a last id exactly when more pets match",
  ],
  "a page that is not the first lacks its first pet": [
    "list returns pages that together are all pets that match, in order",
    "a walk during creates sees each earlier pet once, in order",
  ],
  "ids descend": [
    "create gives each pet an id that is greater than all before",
  ],
  "creates at once get one id": [
    "create gives each of 300 pets at once an id of its own",
  ],
  "a new pet is listed a little later": [
    "get and list see a pet once its create is fulfilled",
  ],
  "every other create takes longer": ["ids become visible in ascending order"],
  "pets are shared": [
    "a change of an object that was passed in or returned changes no pet",
  ],
  "a ping is rejected": ["ping is fulfilled while the storage is open"],
  "close cuts creates off": ["close finishes the creates under way"],
  "a second close is rejected": ["close may be called more than once"],
  "a closed storage rejects with any error": [
    "every method rejects as unavailable after close",
    "apiKeys: every method rejects as unavailable after close",
  ],
  "everything is forgotten at the end": [
    "a storage that is opened again has every pet",
    "a storage that is opened again has the pets that were being created during close",
    "a new place can be opened 16 times at once",
    "a storage sees a pet once a create is fulfilled in another",
    "a storage that is opened again knows the idempotency keys",
    "apiKeys: a storage that is opened again has every record",
  ],
  "ids start again when it is opened again": [
    "a storage that is opened again gives greater ids than before",
  ],
  "idempotency keys are ignored": [
    "create adds one pet if its idempotency key is sent again",
    "create tells new, known and missing idempotency keys apart if all are sent at once",
  ],
  "all idempotency keys are one": [
    "create adds a pet for each idempotency key, and for each create without one",
    "create gives greater ids after an idempotency key was sent again",
  ],
  "a replay returns what was sent": [
    "create returns the first pet of an idempotency key, whatever is sent with it later",
  ],
  "an idempotency key is kept after its pet": [
    "create adds one pet if its idempotency key is sent 64 times at once",
    "create adds one pet for each idempotency key that several storages send at once",
  ],
  "records are numbered from 0": [
    "apiKeys: insert numbers records from 1, and list returns them in order",
  ],
  "names of records are trimmed": [
    "apiKeys: insert and list keep a delicate name exactly",
  ],
  "times are cut to seconds": [
    "apiKeys: insert, revoke and list keep times to the millisecond",
  ],
  "a digest may come twice": ["apiKeys: insert rejects a digest that exists"],
  "a first record is looked for before it is kept": [
    "apiKeys: insertFirst keeps one record if 20 are sent at once",
    "apiKeys: insertFirst keeps one record if 16 storages send one at once",
  ],
  "revoked records do not count": [
    "apiKeys: insertFirst keeps nothing if there was ever a record, a revoked one too",
  ],
  "active digests are remembered": [
    "apiKeys: a storage sees a revocation once it is fulfilled in another",
  ],
  "revoked keys stay active": [
    "apiKeys: isActive is true for the digests of keys that are not revoked",
  ],
  "a second revocation has its own time": [
    "apiKeys: revoke keeps the time of the first revocation",
  ],
  "an unknown record is revoked": [
    "apiKeys: revoke returns undefined if no record has the id",
  ],
  "records are shared": [
    "apiKeys: a change of a date that was passed in or returned changes no record",
  ],
};

type Contract = typeof storageContract;

/** The clauses that a contract registers for a storage, by title. */
function clausesOf(
  fault?: FaultName,
  contract: Contract = storageContract,
): ReadonlyMap<string, () => Promise<void>> {
  const clauses = new Map<string, () => Promise<void>>();
  contract({
    it(title, check) {
      assert.ok(!clauses.has(title), title);
      clauses.set(title, check);
    },
    open: async () => await newFaultyPlace(fault)(),
    newPlace: async () => newFaultyPlace(fault),
  });
  return clauses;
}

for (const fault of Object.keys(FAULTS) as FaultName[]) {
  test(`a storage breaks the contract if ${fault}`, async () => {
    const clauses = clausesOf(fault);
    for (const title of BREAKS[fault]) {
      const check = clauses.get(title);
      assert.ok(check !== undefined, `no clause "${title}"`);
      await assert.rejects(check, title);
    }
  });
}

test("a storage without a fault keeps every clause", async () => {
  for (const [title, check] of clausesOf()) {
    await assert.doesNotReject(check, title);
  }
});

test("every clause of the contract is broken by a fault", () => {
  const broken = new Set(Object.values(BREAKS).flat());
  assert.deepEqual([...clausesOf().keys()].sort(), [...broken].sort());
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
    open: async () => await newFaultyPlace()(),
  });
  const others = [...clausesOf().keys()]
    .filter((title) => !titles.includes(title));
  assert.equal(others.length, 10);
});

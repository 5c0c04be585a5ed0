/** The promises of `ApiKeyStorage`, with one test for each. */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../../core/api_key_storage.ts";
import { assertClosed, assertRejected, assertSame } from "./assertions.ts";
import {
  type Closable,
  type ContractOptions,
  inPlace,
  inSharedPlace,
  onStorage,
} from "./contract_options.ts";
import { DELICATE_NAMES } from "./sample_pets.ts";

/** A storage that keeps records of issued API keys. */
export interface KeepsApiKeys extends Closable {
  /** The records. */
  readonly apiKeys: ApiKeyStorage;
}

/**
 * Registers a test for each promise of {@linkcode ApiKeyStorage}.
 *
 * @example With `node:test`
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { apiKeyStorageContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () => apiKeyStorageContract({ it, open: async () => memoryStorage() });
 * ```
 *
 * @param options how to register a test and open a storage.
 */
export function apiKeyStorageContract(
  options: ContractOptions<KeepsApiKeys>,
): void {
  const withStorage = { test: onStorage(options, "apiKeys: ") };

  withStorage.test("insert numbers records from 1, and list returns them in order", async ({ apiKeys }) => {
    await assertListed(apiKeys, []);
    const expected: ApiKeyRecord[] = [];
    for (const id of [1, 2, 3]) {
      expected.push(await insert(apiKeys, sampleRecord(id), id));
    }
    await assertListed(apiKeys, expected);
  });

  withStorage.test("insert and list keep a delicate name exactly", async ({ apiKeys }) => {
    const expected: ApiKeyRecord[] = [];
    for (const [i, name] of DELICATE_NAMES.entries()) {
      const record = { ...sampleRecord(i), name };
      expected.push(await insert(apiKeys, record, i + 1));
    }
    await assertListed(apiKeys, expected);
  });

  withStorage.test("insert, revoke and list keep times to the millisecond", async ({ apiKeys }) => {
    const times = ["1970-01-01T00:00:00.001Z", "2026-02-28T23:59:59.999Z"]
      .map((time) => new Date(time));
    const expected: ApiKeyRecord[] = [];
    for (const [i, created] of times.entries()) {
      const given = { ...sampleRecord(i), created };
      const record = await insert(apiKeys, given, i + 1);
      expected.push(await revoke(apiKeys, record, created));
    }
    await assertListed(apiKeys, expected);
  });

  withStorage.test("insert rejects a digest that exists", async ({ apiKeys }) => {
    const first = await insert(apiKeys, sampleRecord(1), 1);
    const again = { ...sampleRecord(1), name: "other" };
    await assertRejected(
      { insert: () => apiKeys.insert(again) },
      "with a digest that exists, expected a rejection",
    );
    await assertListed(apiKeys, [first]);
  });

  withStorage.test("insertFirst keeps one record if 20 are sent at once", async ({ apiKeys }) => {
    await assertOneKept(Array.from({ length: 20 }, () => apiKeys));
  });

  withStorage.test("insertFirst keeps nothing if there was ever a record, a revoked one too", async ({ apiKeys }) => {
    const record = await insert(apiKeys, sampleRecord(1), 1);
    const what = "what insertFirst returned though a record exists";
    assertSame(await apiKeys.insertFirst(sampleRecord(2)), undefined, what);
    const revoked = await revoke(apiKeys, record, new Date(5000));
    assertSame(await apiKeys.insertFirst(sampleRecord(3)), undefined, what);
    await assertListed(apiKeys, [revoked]);
    await assertActive(apiKeys, { 1: false, 2: false, 3: false });
  });

  withStorage.test("isActive is true for the digests of keys that are not revoked", async ({ apiKeys }) => {
    await assertActive(apiKeys, { 1: false });
    await insert(apiKeys, sampleRecord(1), 1);
    const second = await insert(apiKeys, sampleRecord(2), 2);
    await revoke(apiKeys, second, new Date(5000));
    await assertActive(apiKeys, { 0: false, 1: true, 2: false, 3: false });
    assertSame(await apiKeys.isActive(""), false, 'isActive("")');
  });

  withStorage.test("find, if the storage has it, returns the record of a digest, a revoked one too", async ({ apiKeys }) => {
    if (apiKeys.find === undefined) return;
    const first = await insert(apiKeys, sampleRecord(1), 1);
    const second = await insert(apiKeys, sampleRecord(2), 2);
    await assertFound(apiKeys, { 1: first, 2: second, 3: undefined });
    const revoked = await revoke(apiKeys, second, new Date(5000));
    await assertFound(apiKeys, { 1: first, 2: revoked });
  });

  withStorage.test("insert, if the storage has markUsed, keeps the expiry", async ({ apiKeys }) => {
    if (apiKeys.markUsed === undefined) return;
    const expires = new Date("2026-02-28T23:59:59.999Z");
    const first = { ...sampleRecord(1), expires };
    const expected = plain({ id: 1, ...first });
    assertSame(plain(await apiKeys.insert(first)), expected, "the record");
    await insert(apiKeys, sampleRecord(2), 2);
    await assertFound(apiKeys, { 1: expected });
    await revoke(apiKeys, expected, new Date(5000));
  });

  withStorage.test("insertFirst, if the storage has markUsed, keeps the expiry", async ({ apiKeys }) => {
    if (apiKeys.markUsed === undefined) return;
    const first = { ...sampleRecord(1), expires: new Date(7000) };
    const record = await apiKeys.insertFirst(first);
    assertSame(
      record && plain(record),
      plain({ id: 1, ...first }),
      "the record",
    );
  });

  withStorage.test("markUsed, if the storage has it, sets the latest day", async ({ apiKeys }) => {
    if (apiKeys.markUsed === undefined) return;
    const first = await insert(apiKeys, sampleRecord(1), 1);
    const second = await insert(apiKeys, sampleRecord(2), 2);
    const day = (count: number) => new Date(86_400_000 * count);
    for (const count of [30_000, 20_000, 20_001, 20_000]) {
      await apiKeys.markUsed(1, day(count));
    }
    for (const id of [0, 3]) {
      await apiKeys.markUsed(id, day(30_000));
    }
    const used = { ...first, lastUsed: day(20_001) };
    await assertListed(apiKeys, [used, second]);
    await assertFound(apiKeys, { 1: used });
    await revoke(apiKeys, used, new Date(5000));
  });

  withStorage.test("markAllUsed, if the storage has it, does what markUsed does for each", async ({ apiKeys }) => {
    if (apiKeys.markAllUsed === undefined) return;
    const day = (count: number) => new Date(86_400_000 * count);
    const records = [];
    for (const id of [1, 2, 3, 4]) {
      records.push(await insert(apiKeys, sampleRecord(id), id));
    }
    await apiKeys.markAllUsed([], day(30_000));
    await apiKeys.markAllUsed([1], day(20_001));
    await apiKeys.markAllUsed([2], day(20_002));
    await apiKeys.markAllUsed([1, 2, 3, 99], day(20_000));
    const days = [20_001, 20_000, 20_000];
    const marked = records.map((record, i) => {
      const count = days[i];
      return count === undefined ? record : { ...record, lastUsed: day(count) };
    });
    await assertListed(apiKeys, marked);
  });

  withStorage.test("revoke keeps the time of the first revocation", async ({ apiKeys }) => {
    const record = await insert(apiKeys, sampleRecord(1), 1);
    const revoked = await revoke(apiKeys, record, new Date(5000));
    const again = await apiKeys.revoke(1, new Date(6000));
    assertSame(again && plain(again), revoked, "a second revoke(1)");
    await assertListed(apiKeys, [revoked]);
  });

  withStorage.test("revoke returns undefined if no record has the id", async ({ apiKeys }) => {
    const record = await insert(apiKeys, sampleRecord(1), 1);
    for (const id of [0, -1, 2, 1.5, 2 ** 53]) {
      const revoked = await apiKeys.revoke(id, new Date(5000));
      assertSame(revoked, undefined, `revoke(${id})`);
    }
    await assertListed(apiKeys, [record]);
  });

  withStorage.test("a change of a date that was passed in or returned changes no record", async ({ apiKeys }) => {
    const given = sampleRecord(1);
    const record = await apiKeys.insert(given);
    given.created.setTime(0);
    record.created.setTime(0);
    (await apiKeys.list())[0]?.created.setTime(0);
    const { name, created } = sampleRecord(1);
    await assertListed(apiKeys, [{ id: 1, name, created }]);
  });

  withStorage.test("every method rejects as unavailable after close", async (storage) => {
    const { apiKeys } = storage;
    await insert(apiKeys, sampleRecord(1), 1);
    await storage.close();
    await assertClosed({
      insert: () => apiKeys.insert(sampleRecord(2)),
      insertFirst: () => apiKeys.insertFirst(sampleRecord(3)),
      isActive: () => apiKeys.isActive(sampleRecord(1).digest),
      ...apiKeys.find && { find: async () => await apiKeys.find?.("") },
      list: () => apiKeys.list(),
      revoke: () => apiKeys.revoke(1, new Date(5000)),
      ...apiKeys.markUsed && {
        markUsed: async () => await apiKeys.markUsed?.(1, new Date(5000)),
      },
      ...apiKeys.markAllUsed && {
        markAllUsed: async () =>
          await apiKeys.markAllUsed?.([1], new Date(5000)),
      },
    });
  });

  persistenceContract(options);
}

/** Registers a test for each promise about records that outlive the storage that keeps them. */
function persistenceContract(options: ContractOptions<KeepsApiKeys>): void {
  const withPlace = { test: inPlace(options, "apiKeys: ") };
  const withSharedPlace = { test: inSharedPlace(options, "apiKeys: ") };

  withPlace.test("a storage that is opened again has every record", async (open) => {
    const first = await open();
    const record = await insert(first.apiKeys, sampleRecord(1), 1);
    const second = await insert(first.apiKeys, sampleRecord(2), 2);
    const revoked = await revoke(first.apiKeys, record, new Date(5000));
    await first.close();
    const { apiKeys } = await open();
    await assertListed(apiKeys, [revoked, second]);
    await assertActive(apiKeys, { 1: false, 2: true });
    await insert(apiKeys, sampleRecord(3), 3);
  });

  withSharedPlace.test("insertFirst keeps one record if 16 storages send one at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 16 }, open));
    await assertOneKept(storages.map(({ apiKeys }) => apiKeys));
  });

  withSharedPlace.test("a storage sees a revocation once it is fulfilled in another", async (open) => {
    const [one, other] = [await open(), await open()];
    const record = await insert(one.apiKeys, sampleRecord(1), 1);
    await assertActive(other.apiKeys, { 1: true });
    await revoke(one.apiKeys, record, new Date(5000));
    await assertActive(other.apiKeys, { 1: false });
  });
}

/** Inserts a record, and asserts that it is returned as given, with this id. */
async function insert(
  apiKeys: ApiKeyStorage,
  given: NewApiKeyRecord,
  id: number,
): Promise<ApiKeyRecord> {
  const record = plain(await apiKeys.insert(given));
  const { name, created } = given;
  assertSame(record, { id, name, created }, "the record that insert returned");
  return record;
}

/** Revokes a key, and asserts that its record is returned with the time. */
async function revoke(
  apiKeys: ApiKeyStorage,
  record: ApiKeyRecord,
  time: Date,
): Promise<ApiKeyRecord> {
  const revoked = await apiKeys.revoke(record.id, time);
  const expected = { ...record, revoked: time };
  assertSame(revoked && plain(revoked), expected, `revoke(${record.id})`);
  return expected;
}

/**
 * Asserts that one of the records that these storages of one place send at once is kept and
 * returned.
 */
async function assertOneKept(senders: readonly ApiKeyStorage[]): Promise<void> {
  const kept: ApiKeyRecord[] = [];
  await Promise.all(senders.map(async (apiKeys, i) => {
    const record = await apiKeys.insertFirst(sampleRecord(i));
    if (record === undefined) return;
    const { name, created } = sampleRecord(i);
    const expected = { id: record.id, name, created };
    assertSame(plain(record), expected, "the record of insertFirst");
    kept.push(expected);
  }));
  assertSame(kept.length, 1, "the number of records that insertFirst returned");
  for (const apiKeys of new Set(senders)) await assertListed(apiKeys, kept);
}

/** Asserts that list returns these records. */
async function assertListed(
  apiKeys: ApiKeyStorage,
  expected: readonly ApiKeyRecord[],
): Promise<void> {
  const records = (await apiKeys.list()).map(plain);
  assertSame(records, expected, "the records of list");
}

/** Asserts whether the keys of sample records, by number, are active, all asked for at once. */
async function assertActive(
  apiKeys: ApiKeyStorage,
  expected: Readonly<Record<number, boolean>>,
): Promise<void> {
  await Promise.all(
    Object.entries(expected).map(async ([number, isActive]) => {
      const { digest } = sampleRecord(Number(number));
      const actual = await apiKeys.isActive(digest);
      assertSame(actual, isActive, `isActive for key ${number}`);
    }),
  );
}

/** Asserts which records `find` returns for sample records, by number. */
async function assertFound(
  apiKeys: ApiKeyStorage,
  expected: Readonly<Record<number, ApiKeyRecord | undefined>>,
): Promise<void> {
  for (const [number, record] of Object.entries(expected)) {
    const found = await apiKeys.find?.(sampleRecord(Number(number)).digest);
    const what = `the record that find returned for key ${number}`;
    assertSame(found && plain(found), record && plain(record), what);
  }
}

/** Returns the members of a record that the service reads, to compare them. */
function plain(
  { id, name, created, revoked, expires, lastUsed }: ApiKeyRecord,
): ApiKeyRecord {
  return {
    id,
    name,
    created,
    ...revoked && { revoked },
    ...expires && { expires },
    ...lastUsed && { lastUsed },
  };
}

function sampleRecord(number: number): NewApiKeyRecord {
  return {
    name: `key ${number}`,
    digest: number.toString(16).padStart(64, "0"),
    created: new Date(1_700_000_000_000 + number),
  };
}

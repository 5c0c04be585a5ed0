/**
 * The promises of `ApiKeyStorage`, as tests: one per clause, each on a fresh storage.
 *
 * `tests/adapters/memory/memory_test.ts` shows how to hold a storage to them.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { anyName } from "./pet_storage_contract.ts";
import type { TestOptions } from "./test_options.ts";
import { fc, runs } from "../support/property.ts";

/** A storage that keeps records of issued API keys. */
export interface KeepsApiKeys {
  /** The records. */
  readonly apiKeys: ApiKeyStorage;
  /** Closes the storage. */
  close(): Promise<void>;
}

/**
 * Registers the tests.
 *
 * @param name how the test names call the storage.
 * @param open makes an empty storage; the test closes it.
 */
export function apiKeyStorageContract(
  name: string,
  open: () => Promise<KeepsApiKeys>,
  options: TestOptions = {},
): void {
  function it(
    promise: string,
    check: (apiKeys: ApiKeyStorage, storage: KeepsApiKeys) => Promise<void>,
  ): void {
    test(`${name}.apiKeys ${promise}`, options, async () => {
      const storage = await open();
      try {
        await check(storage.apiKeys, storage);
      } finally {
        await storage.close();
      }
    });
  }

  it("numbers records from 1 and lists them in order", async (apiKeys) => {
    assert.deepEqual(await apiKeys.list(), []);
    for (const n of [1, 2, 3]) {
      const { name, created } = numbered(n);
      const expected = { id: n, name, created };
      assert.deepEqual({ ...await apiKeys.insert(numbered(n)) }, expected);
    }
    const listed = await apiKeys.list();
    assert.deepEqual(
      listed.map((record) => ({ ...record })),
      [1, 2, 3].map((id) => ({
        id,
        name: numbered(id).name,
        created: numbered(id).created,
      })),
    );
  });

  it("keeps names and times exactly", async (apiKeys) => {
    let n = 0;
    const anyTime = fc.date({ noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(
        anyName,
        anyTime,
        anyTime,
        async (name, created, revoked) => {
          const { digest } = numbered(++n);
          const { id } = await apiKeys.insert({ name, digest, created });
          const record = { ...await apiKeys.revoke(id, revoked) };
          assert.deepEqual(record, { id, name, created, revoked });
          assert.deepEqual({ ...(await apiKeys.list()).at(-1) }, record);
        },
      ),
      runs(30),
    );
  });

  it("knows the digests of the keys that are not revoked", async (apiKeys) => {
    const [one, two, three] = [numbered(1), numbered(2), numbered(3)];
    assert.equal(await apiKeys.isActive(one.digest), false);
    await apiKeys.insert(one);
    const { id } = await apiKeys.insert(two);
    await apiKeys.revoke(id, new Date(5000));
    assert.equal(await apiKeys.isActive(one.digest), true);
    assert.equal(await apiKeys.isActive(two.digest), false);
    assert.equal(await apiKeys.isActive(three.digest), false);
    assert.equal(await apiKeys.isActive(""), false);
  });

  it("keeps the time of the first revocation", async (apiKeys) => {
    const { id, name, created } = await apiKeys.insert(numbered(1));
    const expected = { id, name, created, revoked: new Date(5000) };
    for (const time of [5000, 6000]) {
      const record = await apiKeys.revoke(id, new Date(time));
      assert.deepEqual({ ...record }, expected);
    }
    assert.deepEqual({ ...(await apiKeys.list())[0] }, expected);
  });

  it("revokes nothing where there is no such record", async (apiKeys) => {
    await apiKeys.insert(numbered(1));
    for (const id of [0, -1, 2, 1.5, 2 ** 53]) {
      assert.equal(await apiKeys.revoke(id, new Date(5000)), undefined);
    }
    assert.equal((await apiKeys.list())[0]?.revoked, undefined);
  });

  it("keeps one first record of many at once", async (apiKeys) => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => apiKeys.insertFirst(numbered(n))),
    );
    const kept = outcomes.filter((record) => record !== undefined);
    assert.equal(kept.length, 1);
    assert.deepEqual(await apiKeys.list(), kept);
  });

  it("keeps no first record where one was ever kept", async (apiKeys) => {
    const { id } = await apiKeys.insert(numbered(1));
    assert.equal(await apiKeys.insertFirst(numbered(2)), undefined);
    await apiKeys.revoke(id, new Date(5000));
    assert.equal(await apiKeys.insertFirst(numbered(3)), undefined);
    assert.equal((await apiKeys.list()).length, 1);
    assert.equal(await apiKeys.isActive(numbered(3).digest), false);
  });

  it("refuses a digest that it has", async (apiKeys) => {
    const first = await apiKeys.insert(numbered(1));
    await assert.rejects(apiKeys.insert({ ...numbered(1), name: "other" }));
    assert.deepEqual(await apiKeys.list(), [first]);
  });

  it("is not changed by who changes an object of it", async (apiKeys) => {
    const given = numbered(1);
    const expected = new Date(given.created);
    const record = await apiKeys.insert(given);
    given.created.setTime(0);
    record.created.setTime(0);
    (await apiKeys.list())[0]?.created.setTime(0);
    assert.deepEqual((await apiKeys.list())[0]?.created, expected);
  });

  it("is unavailable once the storage is closed", async (apiKeys, storage) => {
    await apiKeys.insert(numbered(1));
    await storage.close();
    const acts = [
      () => apiKeys.insert(numbered(2)),
      () => apiKeys.insertFirst(numbered(3)),
      () => apiKeys.isActive(numbered(1).digest),
      () => apiKeys.list(),
      () => apiKeys.revoke(1, new Date(5000)),
    ];
    for (const act of acts) {
      await assert.rejects(
        act,
        (error) =>
          error instanceof StorageError && error.kind === "unavailable",
      );
    }
  });
}

/**
 * Registers the tests of what a storage of key records promises that outlives its process.
 *
 * @param name how the test names call the storage.
 * @param newPlace makes a place where nothing is stored, and returns a function that opens a storage
 * there, any number of times, one after the other and at once.
 */
export function persistentApiKeyStorageContract(
  name: string,
  newPlace: () => Promise<() => Promise<KeepsApiKeys>>,
  options: TestOptions = {},
): void {
  function it(
    promise: string,
    check: (open: () => Promise<KeepsApiKeys>) => Promise<void>,
  ): void {
    test(
      `${name}.apiKeys ${promise}`,
      options,
      async () => await check(await newPlace()),
    );
  }

  it("has every record when it is opened again", async (open) => {
    const first = await open();
    await first.apiKeys.insert(numbered(1));
    await first.apiKeys.insert(numbered(2));
    await first.apiKeys.revoke(1, new Date(5000));
    const records = await first.apiKeys.list();
    await first.close();
    const second = await open();
    try {
      assert.equal(records.length, 2);
      assert.deepEqual(await second.apiKeys.list(), records);
      assert.equal(await second.apiKeys.isActive(numbered(1).digest), false);
      assert.equal(await second.apiKeys.isActive(numbered(2).digest), true);
      assert.equal((await second.apiKeys.insert(numbered(3))).id, 3);
    } finally {
      await second.close();
    }
  });

  it("keeps one first record of many opened at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 16 }, open));
    try {
      const outcomes = await Promise.all(
        storages.map(({ apiKeys }, n) => apiKeys.insertFirst(numbered(n))),
      );
      const kept = outcomes.filter((record) => record !== undefined);
      assert.equal(kept.length, 1);
      for (const { apiKeys } of storages) {
        assert.deepEqual(await apiKeys.list(), kept);
      }
    } finally {
      await Promise.all(storages.map((storage) => storage.close()));
    }
  });

  it("sees at once what another that is open revokes", async (open) => {
    const [one, other] = [await open(), await open()];
    try {
      const { id } = await one.apiKeys.insert(numbered(1));
      assert.equal(await other.apiKeys.isActive(numbered(1).digest), true);
      await one.apiKeys.revoke(id, new Date(5000));
      assert.equal(await other.apiKeys.isActive(numbered(1).digest), false);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });
}

function numbered(n: number): NewApiKeyRecord {
  return {
    name: `key ${n}`,
    digest: n.toString(16).padStart(64, "0"),
    created: new Date(1_700_000_000_000 + n),
  };
}

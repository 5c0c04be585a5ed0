/** The promises of `ApiKeyStorage`: one test for each. */

import assert from "node:assert/strict";
import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../../core/keys/issued_keys.ts";
import {
  type Closable,
  type ContractOptions,
  inPlace,
  onStorage,
} from "./contract_options.ts";
import { assertUnavailable } from "./pet_storage_contract.ts";
import { DELICATE_NAMES } from "./sample_pets.ts";

/** A storage that keeps records of issued API keys. */
export interface KeepsApiKeys extends Closable {
  /** The records. */
  readonly apiKeys: ApiKeyStorage;
}

/**
 * Registers a test for each promise of {@linkcode ApiKeyStorage}.
 *
 * @example
 * ```ts
 * import { memoryStorage } from "@petstore/service";
 * import { apiKeyStorageContract } from "@petstore/service/contract";
 * import { it } from "node:test";
 *
 * const addTests = () => apiKeyStorageContract({ it, open: async () => memoryStorage() });
 * ```
 */
export function apiKeyStorageContract(
  options: ContractOptions<KeepsApiKeys>,
): void {
  const it = onStorage(options, "apiKeys: ");

  it("insert numbers records from 1, and list returns them in order", async ({ apiKeys }) => {
    assert.deepEqual(await apiKeys.list(), []);
    const expected: ApiKeyRecord[] = [];
    for (const id of [1, 2, 3]) {
      const { name, created } = sampleRecord(id);
      expected.push({ id, name, created });
      assert.deepEqual(
        plain(await apiKeys.insert(sampleRecord(id))),
        expected.at(-1),
      );
    }
    assert.deepEqual(await list(apiKeys), expected);
  });

  it("insert and list keep a delicate name exactly", async ({ apiKeys }) => {
    for (const [i, name] of DELICATE_NAMES.entries()) {
      const record = await apiKeys.insert({ ...sampleRecord(i), name });
      assert.equal(record.name, name);
    }
    const names = (await apiKeys.list()).map(({ name }) => name);
    assert.deepEqual(names, DELICATE_NAMES);
  });

  it("insert, revoke and list keep times to the millisecond", async ({ apiKeys }) => {
    const times = ["1970-01-01T00:00:00.001Z", "2026-02-28T23:59:59.999Z"]
      .map((time) => new Date(time));
    for (const [i, time] of times.entries()) {
      const { id } = await apiKeys.insert({
        ...sampleRecord(i),
        created: time,
      });
      await apiKeys.revoke(id, time);
    }
    const records = await apiKeys.list();
    assert.deepEqual(records.map(({ created }) => created), times);
    assert.deepEqual(records.map(({ revoked }) => revoked), times);
  });

  it("insert rejects a digest that exists", async ({ apiKeys }) => {
    const first = plain(await apiKeys.insert(sampleRecord(1)));
    await assert.rejects(apiKeys.insert({ ...sampleRecord(1), name: "other" }));
    assert.deepEqual(await list(apiKeys), [first]);
  });

  it("insertFirst keeps one record if 20 are sent at once", async ({ apiKeys }) => {
    const outcomes = await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) => apiKeys.insertFirst(sampleRecord(i)),
      ),
    );
    const kept = outcomes.filter((record) => record !== undefined).map(plain);
    assert.equal(kept.length, 1);
    assert.deepEqual(await list(apiKeys), kept);
  });

  it("insertFirst keeps nothing if there was ever a record, a revoked one too", async ({ apiKeys }) => {
    const { id } = await apiKeys.insert(sampleRecord(1));
    assert.equal(await apiKeys.insertFirst(sampleRecord(2)), undefined);
    await apiKeys.revoke(id, new Date(5000));
    assert.equal(await apiKeys.insertFirst(sampleRecord(3)), undefined);
    assert.equal((await apiKeys.list()).length, 1);
    assert.equal(await apiKeys.isActive(sampleRecord(3).digest), false);
  });

  it("isActive is true for the digests of keys that are not revoked", async ({ apiKeys }) => {
    const [one, two, three] = [1, 2, 3].map((n) => sampleRecord(n).digest);
    assert.equal(await apiKeys.isActive(`${one}`), false);
    await apiKeys.insert(sampleRecord(1));
    const { id } = await apiKeys.insert(sampleRecord(2));
    await apiKeys.revoke(id, new Date(5000));
    assert.equal(await apiKeys.isActive(`${one}`), true);
    assert.equal(await apiKeys.isActive(`${two}`), false);
    assert.equal(await apiKeys.isActive(`${three}`), false);
    assert.equal(await apiKeys.isActive(""), false);
  });

  it("revoke keeps the time of the first revocation", async ({ apiKeys }) => {
    const { id, name, created } = await apiKeys.insert(sampleRecord(1));
    const expected = { id, name, created, revoked: new Date(5000) };
    for (const time of [5000, 6000]) {
      const record = await apiKeys.revoke(id, new Date(time));
      assert.deepEqual(record && plain(record), expected);
    }
    assert.deepEqual(await list(apiKeys), [expected]);
  });

  it("revoke returns undefined if no record has the id", async ({ apiKeys }) => {
    await apiKeys.insert(sampleRecord(1));
    for (const id of [0, -1, 2, 1.5, 2 ** 53]) {
      assert.equal(await apiKeys.revoke(id, new Date(5000)), undefined);
    }
    assert.equal((await apiKeys.list())[0]?.revoked, undefined);
  });

  it("a change of a date that was passed in or returned changes no record", async ({ apiKeys }) => {
    const given = sampleRecord(1);
    const expected = new Date(given.created);
    const record = await apiKeys.insert(given);
    given.created.setTime(0);
    record.created.setTime(0);
    (await apiKeys.list())[0]?.created.setTime(0);
    assert.deepEqual((await apiKeys.list())[0]?.created, expected);
  });

  it("every method rejects as unavailable after close", async (storage) => {
    const { apiKeys } = storage;
    await apiKeys.insert(sampleRecord(1));
    await storage.close();
    await assertUnavailable(() => apiKeys.insert(sampleRecord(2)));
    await assertUnavailable(() => apiKeys.insertFirst(sampleRecord(3)));
    await assertUnavailable(() => apiKeys.isActive(sampleRecord(1).digest));
    await assertUnavailable(() => apiKeys.list());
    await assertUnavailable(() => apiKeys.revoke(1, new Date(5000)));
  });

  persistenceContract(options);
}

/** Registers a test for each promise on records that outlive the storage that keeps them. */
function persistenceContract(options: ContractOptions<KeepsApiKeys>): void {
  const it = inPlace(options, "apiKeys: ");

  it("a storage that is opened again has every record", async (open) => {
    const first = await open();
    await first.apiKeys.insert(sampleRecord(1));
    await first.apiKeys.insert(sampleRecord(2));
    await first.apiKeys.revoke(1, new Date(5000));
    const records = await list(first.apiKeys);
    await first.close();
    const { apiKeys } = await open();
    assert.equal(records.length, 2);
    assert.deepEqual(await list(apiKeys), records);
    assert.equal(await apiKeys.isActive(sampleRecord(1).digest), false);
    assert.equal(await apiKeys.isActive(sampleRecord(2).digest), true);
    assert.equal((await apiKeys.insert(sampleRecord(3))).id, 3);
  });

  it("insertFirst keeps one record if 16 storages send one at once", async (open) => {
    const storages = await Promise.all(Array.from({ length: 16 }, open));
    const outcomes = await Promise.all(
      storages.map(({ apiKeys }, i) => apiKeys.insertFirst(sampleRecord(i))),
    );
    const kept = outcomes.filter((record) => record !== undefined).map(plain);
    assert.equal(kept.length, 1);
    for (const { apiKeys } of storages) {
      assert.deepEqual(await list(apiKeys), kept);
    }
  });

  it("a storage sees a revocation once it is fulfilled in another", async (open) => {
    const [one, other] = [await open(), await open()];
    const { id } = await one.apiKeys.insert(sampleRecord(1));
    assert.equal(await other.apiKeys.isActive(sampleRecord(1).digest), true);
    await one.apiKeys.revoke(id, new Date(5000));
    assert.equal(await other.apiKeys.isActive(sampleRecord(1).digest), false);
  });
}

async function list(apiKeys: ApiKeyStorage): Promise<readonly ApiKeyRecord[]> {
  return (await apiKeys.list()).map(plain);
}

/** The members of a record that the service reads, to compare them. */
function plain({ id, name, created, revoked }: ApiKeyRecord): ApiKeyRecord {
  const record = { id, name, created };
  return revoked === undefined ? record : { ...record, revoked };
}

function sampleRecord(number: number): NewApiKeyRecord {
  return {
    name: `key ${number}`,
    digest: number.toString(16).padStart(64, "0"),
    created: new Date(1_700_000_000_000 + number),
  };
}

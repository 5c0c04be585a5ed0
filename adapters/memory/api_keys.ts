/** Records of issued API keys kept in memory. */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";

/** @param assertOpen throws if the storage is closed. */
export function memoryApiKeys(assertOpen: () => void): ApiKeyStorage {
  // The record with id n, and its digest, are at n - 1. Records are copied, because whoever holds a
  // Date can change it.
  const records: ApiKeyRecord[] = [];
  const digests: string[] = [];

  function keep({ name, digest, created }: NewApiKeyRecord): ApiKeyRecord {
    if (digests.includes(digest)) {
      throw new Error("Cannot keep API key: its digest exists already");
    }
    const record = { id: digests.push(digest), name, created };
    records.push(structuredClone(record));
    return structuredClone(record);
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
  };
}

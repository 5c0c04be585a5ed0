/**
 * Records of issued API keys kept in memory.
 *
 * @module
 */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";

// A Date can be changed by whoever holds it, so times are kept as ms since 1970.
interface Row {
  readonly id: number;
  readonly name: string;
  readonly digest: string;
  readonly created: number;
  readonly revoked?: number;
}

/**
 * Makes an empty storage of key records.
 *
 * @param assertOpen throws if the storage that this belongs to is closed.
 */
export function memoryApiKeys(assertOpen: () => void): ApiKeyStorage {
  // The record with id n stands at n - 1.
  const rows: Row[] = [];
  const byDigest = new Map<string, number>();

  function keep({ name, digest, created }: NewApiKeyRecord): ApiKeyRecord {
    if (byDigest.has(digest)) {
      throw new Error("Cannot keep API key: its digest is kept already");
    }
    const id = rows.length + 1;
    const row = { id, name, digest, created: created.getTime() };
    rows.push(row);
    byDigest.set(digest, id);
    return toRecord(row);
  }

  return {
    async insert(record) {
      assertOpen();
      return keep(record);
    },

    async insertFirst(record) {
      assertOpen();
      return rows.length === 0 ? keep(record) : undefined;
    },

    async isActive(digest) {
      assertOpen();
      const id = byDigest.get(digest);
      return id !== undefined && rows[id - 1]?.revoked === undefined;
    },

    async list() {
      assertOpen();
      return rows.map(toRecord);
    },

    async revoke(id, time) {
      assertOpen();
      const row = rows[id - 1];
      if (row === undefined) return undefined;
      const revoked = { revoked: time.getTime(), ...row };
      rows[id - 1] = revoked;
      return toRecord(revoked);
    },
  };
}

function toRecord({ id, name, created, revoked }: Row): ApiKeyRecord {
  const record = { id, name, created: new Date(created) };
  return revoked === undefined
    ? record
    : { ...record, revoked: new Date(revoked) };
}

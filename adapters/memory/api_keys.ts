/** Records of issued API keys kept in memory. */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";

// Times in ms since 1970, because whoever holds a Date can change it.
interface Row {
  readonly id: number;
  readonly name: string;
  readonly digest: string;
  readonly created: number;
  readonly revoked?: number;
}

/** @param assertOpen throws if the storage is closed. */
export function memoryApiKeys(assertOpen: () => void): ApiKeyStorage {
  // The record with id n is at n - 1.
  const rows: Row[] = [];

  function find(digest: string): Row | undefined {
    return rows.find((row) => row.digest === digest);
  }

  function keep({ name, digest, created }: NewApiKeyRecord): ApiKeyRecord {
    if (find(digest) !== undefined) {
      throw new Error("Cannot keep API key: its digest exists already");
    }
    const id = rows.length + 1;
    const row = { id, name, digest, created: created.getTime() };
    rows.push(row);
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
      const row = find(digest);
      return row !== undefined && row.revoked === undefined;
    },

    async list() {
      assertOpen();
      return rows.map(toRecord);
    },

    async revoke(id, time) {
      assertOpen();
      const row = rows[id - 1];
      if (row === undefined) return undefined;
      return toRecord(rows[id - 1] = { revoked: time.getTime(), ...row });
    },
  };
}

function toRecord({ id, name, created, revoked }: Row): ApiKeyRecord {
  const record = { id, name, created: new Date(created) };
  return revoked === undefined
    ? record
    : { ...record, revoked: new Date(revoked) };
}

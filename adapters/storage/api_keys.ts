/** Stores the records of issued API keys, in SQL that every database understands. */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import { API_KEY_COLUMNS, toApiKeyRecord } from "./stored_row.ts";

/** Runs a statement and resolves to its rows. `action` names it in messages. */
export type Run = (
  action: string,
  sql: string,
  ...values: (string | number)[]
) => Promise<readonly unknown[]>;

const INSERT = `INSERT INTO api_keys (name, digest, created)
  SELECT CAST(? AS text), CAST(? AS text), CAST(? AS bigint)`;
const RETURNING = `RETURNING ${API_KEY_COLUMNS}`;

/**
 * Makes a storage that keeps the records in the table `api_keys`.
 *
 * @param read runs a query.
 * @param write runs a change; one after the other, whichever process they come from.
 */
export function apiKeyStorage(read: Run, write: Run): ApiKeyStorage {
  return {
    async insert({ name, digest, created }) {
      const sql = `${INSERT} ${RETURNING}`;
      const values = [name, digest, created.getTime()];
      const [row] = await write("keep API key", sql, ...values);
      return toApiKeyRecord(row);
    },

    async insertFirst({ name, digest, created }) {
      const sql =
        `${INSERT} WHERE NOT EXISTS (SELECT * FROM api_keys) ${RETURNING}`;
      const values = [name, digest, created.getTime()];
      const rows = await write("keep first API key", sql, ...values);
      return rows.map(toApiKeyRecord)[0];
    },

    async isActive(digest) {
      const sql =
        "SELECT id FROM api_keys WHERE digest = ? AND revoked IS NULL";
      return (await read("check API key", sql, digest)).length > 0;
    },

    async find(digest) {
      const sql = `SELECT ${API_KEY_COLUMNS} FROM api_keys WHERE digest = ?`;
      return (await read("find API key", sql, digest)).map(toApiKeyRecord)[0];
    },

    async list() {
      const sql = `SELECT ${API_KEY_COLUMNS} FROM api_keys ORDER BY id`;
      return (await read("list API keys", sql)).map(toApiKeyRecord);
    },

    async revoke(id, time) {
      if (!Number.isSafeInteger(id)) return undefined;
      const sql = `UPDATE api_keys SET revoked = coalesce(revoked, ?)
        WHERE id = ? ${RETURNING}`;
      const rows = await write("revoke API key", sql, time.getTime(), id);
      return rows.map(toApiKeyRecord)[0];
    },
  };
}

/** Stores the records of issued API keys, in SQL that every database understands. */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/storage.ts";
import { API_KEY_COLUMNS, toApiKeyRecord } from "./stored_row.ts";

/** In ms. */
const DAY = 86_400_000;

/** The name of a look-up in messages. */
export const FIND = "check API key";

/** Runs a statement and resolves to its rows. `action` names it in messages. */
export type Run = (
  action: string,
  sql: string,
  ...values: (string | number | null)[]
) => Promise<readonly unknown[]>;

const INSERT = `INSERT INTO api_keys (name, digest, created, expires)
  SELECT CAST(? AS text), CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint)`;
const SELECT = `SELECT ${API_KEY_COLUMNS} FROM api_keys`;
const RETURNING = `RETURNING ${API_KEY_COLUMNS}`;

/**
 * Makes a storage that keeps the records in the table `api_keys`.
 *
 * @param read runs a query.
 * @param write runs a change. Changes run one after the other, whichever process they come from.
 * @param idsOf a query of the ids in its parameter, a JSON array.
 * @param findRow finds the row with a digest. Default: `read` does.
 */
export function apiKeyStorage(
  read: Run,
  write: Run,
  idsOf: string = "SELECT value FROM json_each(?)", // of SQLite
  findRow: (digest: string) => Promise<unknown> = async (digest) =>
    (await read(FIND, `${SELECT} WHERE digest = ?`, digest))[0],
): ApiKeyStorage {
  async function find(digest: string): Promise<ApiKeyRecord | undefined> {
    const row = await findRow(digest);
    return row === undefined ? undefined : toApiKeyRecord(row);
  }

  async function markAllUsed(
    ids: readonly number[],
    day: Date,
  ): Promise<void> {
    const time = day.getTime();
    const sql = `UPDATE api_keys SET last_used = ? WHERE id IN (${idsOf})
      AND (coalesce(last_used, 0) < ? OR last_used > ?)`;
    const values = [time, JSON.stringify(ids), time, time + DAY];
    await write("record use of API keys", sql, ...values);
  }

  return {
    async insert(record) {
      const sql = `${INSERT} ${RETURNING}`;
      const [row] = await write("store API key", sql, ...toValues(record));
      return toApiKeyRecord(row);
    },

    async insertFirst(record) {
      const sql =
        `${INSERT} WHERE NOT EXISTS (SELECT * FROM api_keys) ${RETURNING}`;
      const rows = await write("store first API key", sql, ...toValues(record));
      return rows.map(toApiKeyRecord)[0];
    },

    async isActive(digest) {
      const record = await find(digest);
      return record !== undefined && record.revoked === undefined;
    },

    find,

    async list() {
      const rows = await read("list API keys", `${SELECT} ORDER BY id`);
      return rows.map(toApiKeyRecord);
    },

    async revoke(id, time) {
      if (!Number.isSafeInteger(id)) return undefined;
      const sql = `UPDATE api_keys SET revoked = coalesce(revoked, ?)
        WHERE id = ? ${RETURNING}`;
      const rows = await write("revoke API key", sql, time.getTime(), id);
      return rows.map(toApiKeyRecord)[0];
    },

    markUsed: (id, day) => markAllUsed([id], day),

    markAllUsed,
  };
}

/** The values of `INSERT`. */
function toValues({ name, digest, created, expires }: NewApiKeyRecord) {
  return [name, digest, created.getTime(), expires?.getTime() ?? null];
}

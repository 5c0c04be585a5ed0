/** Records of issued API keys in PostgreSQL. @module */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";
import type { PostgresConnections, Send } from "./connections.ts";
import { API_KEYS_LOCK } from "./schema.ts";
import { API_KEY_COLUMNS, toApiKeyRecord } from "../database/stored_row.ts";

const INSERT = {
  name: "insert API key",
  text: `INSERT INTO api_keys (name, digest, created)
    VALUES ($1, $2, $3) RETURNING ${API_KEY_COLUMNS}`,
};
const ANY = { name: "any API key", text: "SELECT FROM api_keys LIMIT 1" };
const ACTIVE = {
  name: "active API key",
  text: "SELECT FROM api_keys WHERE digest = $1 AND revoked IS NULL",
};
const ALL = {
  name: "all API keys",
  text: `SELECT ${API_KEY_COLUMNS} FROM api_keys ORDER BY id`,
};
const REVOKE = {
  name: "revoke API key",
  text: `UPDATE api_keys SET revoked = coalesce(revoked, $2)
    WHERE id = $1 RETURNING ${API_KEY_COLUMNS}`,
};

/** Keeps the records in the table `api_keys`. */
export function postgresApiKeys(
  { read, transaction }: PostgresConnections,
): ApiKeyStorage {
  async function keep(
    send: Send,
    { name, digest, created }: NewApiKeyRecord,
  ): Promise<ApiKeyRecord> {
    const [row] = await send(INSERT, [name, digest, created.getTime()]);
    return toApiKeyRecord(row);
  }

  return {
    insert: (record) =>
      transaction("keep API key", API_KEYS_LOCK, (send) => keep(send, record)),

    insertFirst: (record) =>
      transaction(
        "keep API key",
        API_KEYS_LOCK,
        async (send) =>
          (await send(ANY)).length === 0 ? await keep(send, record) : undefined,
      ),

    isActive: async (digest) =>
      (await read("check API key", ACTIVE, [digest])).length > 0,

    list: async () => (await read("list API keys", ALL)).map(toApiKeyRecord),

    async revoke(id, time) {
      if (!Number.isSafeInteger(id)) return undefined;
      return await transaction(
        "revoke API key",
        API_KEYS_LOCK,
        async (send) => {
          const [row] = await send(REVOKE, [id, time.getTime()]);
          return row && toApiKeyRecord(row);
        },
      );
    },
  };
}

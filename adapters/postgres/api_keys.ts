/**
 * Records of issued API keys in PostgreSQL.
 *
 * @module
 */

import type {
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";
import type { PostgresConnections, Value } from "./connections.ts";
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
  connections: PostgresConnections,
): ApiKeyStorage {
  const keep = "keep API key";

  return {
    insert: (record) =>
      connections.transaction(keep, API_KEYS_LOCK, async (send) => {
        const [row] = await send(INSERT, values(record));
        return toApiKeyRecord(row);
      }),

    insertFirst: (record) =>
      connections.transaction(keep, API_KEYS_LOCK, async (send) => {
        if ((await send(ANY, [])).length > 0) return undefined;
        const [row] = await send(INSERT, values(record));
        return toApiKeyRecord(row);
      }),

    async isActive(digest) {
      const rows = await connections.read("check API key", ACTIVE, [digest]);
      return rows.length > 0;
    },

    async list() {
      return (await connections.read("list API keys", ALL, [])).map(
        toApiKeyRecord,
      );
    },

    async revoke(id, time) {
      if (!Number.isSafeInteger(id)) return undefined;
      return await connections.transaction(
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

function values({ name, digest, created }: NewApiKeyRecord): readonly Value[] {
  return [name, digest, created.getTime()];
}

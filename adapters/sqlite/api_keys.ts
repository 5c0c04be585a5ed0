/** Records of issued API keys in an SQLite file. @module */

import type {
  ApiKeyRecord,
  ApiKeyStorage,
  NewApiKeyRecord,
} from "../../core/keys/issued_keys.ts";
import type { SqliteFile } from "./file.ts";
import { API_KEY_COLUMNS, toApiKeyRecord } from "../database/stored_row.ts";

/** Keeps the records in the table `api_keys`. */
export function sqliteApiKeys(file: SqliteFile): ApiKeyStorage {
  const insert = file.prepare(
    `INSERT INTO api_keys (name, digest, created) VALUES (?, ?, ?) RETURNING ${API_KEY_COLUMNS}`,
  );
  const any = file.prepare("SELECT 1 FROM api_keys LIMIT 1");
  const active = file.prepare(
    "SELECT 1 FROM api_keys WHERE digest = ? AND revoked IS NULL",
  );
  const all = file.prepare(
    `SELECT ${API_KEY_COLUMNS} FROM api_keys ORDER BY id`,
  );
  const revoke = file.prepare(
    `UPDATE api_keys SET revoked = coalesce(revoked, ?) WHERE id = ? RETURNING ${API_KEY_COLUMNS}`,
  );

  function keep({ name, digest, created }: NewApiKeyRecord): ApiKeyRecord {
    return toApiKeyRecord(insert.get(name, digest, created.getTime()));
  }

  return {
    insert: (record) => file.write("keep API key", () => keep(record)),

    insertFirst: (record) =>
      file.write(
        "keep API key",
        () => any.get() === undefined ? keep(record) : undefined,
      ),

    isActive: (digest) =>
      file.read("check API key", () => active.get(digest) !== undefined),

    list: () => file.read("list API keys", () => all.all().map(toApiKeyRecord)),

    revoke: (id, time) =>
      file.write("revoke API key", () => {
        const row = revoke.get(time.getTime(), id);
        return row === undefined ? undefined : toApiKeyRecord(row);
      }),
  };
}

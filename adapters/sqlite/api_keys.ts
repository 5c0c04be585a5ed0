/** Records of issued API keys in an SQLite file. */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import { apiKeyStorage } from "../database/api_keys.ts";
import type { SqliteFile } from "./file.ts";

/** Keeps the records in the table `api_keys`. */
export function sqliteApiKeys(file: SqliteFile): ApiKeyStorage {
  return apiKeyStorage(
    (action, sql, ...values) =>
      file.read(action, () => file.prepare(sql).all(...values)),
    (action, sql, ...values) =>
      file.write(action, () => file.prepare(sql).all(...values)),
  );
}

/** Records of issued API keys in PostgreSQL. */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import { apiKeyStorage } from "../database/api_keys.ts";
import type { PostgresConnections } from "./connections.ts";
import { API_KEYS_LOCK } from "./schema.ts";

/** Keeps the records in the table `api_keys`. */
export function postgresApiKeys(
  { read, transaction }: PostgresConnections,
): ApiKeyStorage {
  return apiKeyStorage(
    (action, sql, ...values) => read(action, numbered(action, sql), values),
    (action, sql, ...values) =>
      transaction(
        action,
        API_KEYS_LOCK,
        (send) => send(numbered(action, sql), values),
      ),
  );
}

/** Makes a statement of SQL in which each `?` stands for a value. */
export function numbered(
  name: string,
  sql: string,
): { readonly name: string; readonly text: string } {
  let place = 0;
  return { name, text: sql.replaceAll("?", () => `$${++place}`) };
}

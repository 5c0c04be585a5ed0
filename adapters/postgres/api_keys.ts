/** Records of issued API keys in PostgreSQL. */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import { apiKeyStorage } from "../database/api_keys.ts";
import type { PostgresConnections } from "./connections.ts";
import { API_KEYS_LOCK } from "./schema.ts";

/** Keeps the records in the table `api_keys`. */
export function postgresApiKeys(
  { read, transaction }: PostgresConnections,
): ApiKeyStorage {
  const statement = (name: string, sql: string) => {
    let place = 0;
    return { name, text: sql.replaceAll("?", () => `$${++place}`) };
  };
  return apiKeyStorage(
    (action, sql, ...values) => read(action, statement(action, sql), values),
    (action, sql, ...values) =>
      transaction(
        action,
        API_KEYS_LOCK,
        (send) => send(statement(action, sql), values),
      ),
  );
}

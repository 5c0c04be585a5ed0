/** Records of issued API keys in PostgreSQL. */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import { apiKeyStorage } from "../database/api_keys.ts";
import { grouped } from "../database/grouped.ts";
import type { PostgresConnections } from "./connections.ts";
import { READ_LIMITS } from "./reads.ts";
import { API_KEYS_LOCK } from "./schema.ts";

const ACTIVE = {
  name: "check API keys",
  text:
    "SELECT digest FROM api_keys WHERE digest = ANY ($1) AND revoked IS NULL",
};

/** Keeps the records in the table `api_keys`. */
export function postgresApiKeys(
  { read, transaction, maxConnections }: PostgresConnections,
): ApiKeyStorage {
  // Strangers can force look-ups, by keys of valid form.
  const { run } = grouped({
    ...READ_LIMITS,
    action: "check API key",
    maxUnderWay: maxConnections,
    keyOf: (digest: string) => digest,
    async send(digests) {
      const rows = await read("check API key", ACTIVE, [digests]);
      const active = new Set(rows.map(([digest]) => digest));
      return digests.map((digest) => active.has(digest));
    },
  });
  const storage = apiKeyStorage(
    (action, sql, ...values) => read(action, numbered(action, sql), values),
    (action, sql, ...values) =>
      transaction(
        action,
        API_KEYS_LOCK,
        (send) => send(numbered(action, sql), values),
      ),
  );
  return { ...storage, isActive: run };
}

/** Makes a statement of SQL in which each `?` stands for a value. */
export function numbered(
  name: string,
  sql: string,
): { readonly name: string; readonly text: string } {
  let place = 0;
  return { name, text: sql.replaceAll("?", () => `$${++place}`) };
}

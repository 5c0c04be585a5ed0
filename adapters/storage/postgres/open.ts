/**
 * Opens the storage in PostgreSQL at a parsed address. Its parts:
 *
 * - creates.ts and reads.ts have the statements for pets; turn.ts lets servers write in turn;
 * - connections.ts sends statements (statement.ts) and transactions, and repeats what may be;
 * - pool.ts decides which connection a statement gets: one of client.ts, to a host of address.ts
 *   with settings.ts; split_brain.ts notices if two hosts accept writes;
 * - fault.ts explains errors;
 * - schema.ts makes the tables, and transfer.ts copies them.
 */

import { checkIntegers, checkNames, MAX_TIME } from "../../../core/kit.ts";
import { apiKeyStorage } from "../api_keys.ts";
import {
  DEFAULT_RETENTION,
  type PetDatabase,
  type PoolCounts,
} from "../pet_database.ts";
import type { GroupStorage } from "../group_storage.ts";
import { groupedPets } from "../grouped_pets.ts";
import type { PostgresAddress } from "./address.ts";
import { postgresConnections } from "./connections.ts";
import { groupCreates } from "./creates.ts";
import { groupLookUps, groupReads } from "./reads.ts";
import { cautions, openSchema } from "./schema.ts";
import { API_KEYS_LOCK } from "./turn.ts";

/** Settings of `postgresStorage`. */
export interface PostgresStorageOptions {
  /**
   * How long to wait for a connection, at each server of the address, in ms: 1 to 2147483647. After
   * that the operation is `unavailable`. Default: 3000.
   */
  readonly connectTimeout?: number;
  /**
   * How long to wait for the result of a statement, in ms: 1 to 2147483647. After that a read is
   * `unavailable`, and a create `outcome_unknown`. A statement that waits for a lock is
   * `unavailable` after three fifths of this time, at most 3 s. Default: 5000.
   */
  readonly queryTimeout?: number;
  /**
   * How long to wait for a database server that cannot be reached yet, or for a lock that another
   * session holds, in ms: 0 to 2147483647. Default: 10000.
   */
  readonly openTimeout?: number;
  /** How long an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
  readonly idempotencyRetention?: number;
  /**
   * Called with a sentence about what may do harm, and what to do about it: after opening for
   * settings of the database, such as `ALTER SEQUENCE … CACHE 50`, and whenever two hosts of the
   * address accept writes. Default: `console.warn`.
   */
  readonly onWarning?: (message: string) => void;
}

/** How many rows a group may read, so that other reads do not wait long for it. */
const MAX_ROWS = 1000;

/** Opens the storage, as `postgresStorage` does. */
export async function openPostgres(
  address: PostgresAddress,
  options: PostgresStorageOptions = {},
): Promise<PetDatabase & { readonly pool: () => PoolCounts }> {
  checkNames(
    options,
    [
      "connectTimeout",
      "queryTimeout",
      "openTimeout",
      "idempotencyRetention",
      "onWarning",
    ],
    "postgresStorage",
  );
  const {
    connectTimeout = 3000,
    queryTimeout = 5000,
    openTimeout = 10_000,
    idempotencyRetention = DEFAULT_RETENTION,
    onWarning = (message) => console.warn(message),
  } = options;
  checkIntegers({ connectTimeout, queryTimeout }, 1, MAX_TIME);
  checkIntegers({ openTimeout }, 0, MAX_TIME);
  checkIntegers({ idempotencyRetention }, 0);

  // Less than `queryTimeout` (except for 1 and 2 ms); otherwise a lock timeout looks like an
  // unknown outcome.
  const lockTimeout = Math.min(3000, Math.ceil(queryTimeout * 0.6));
  const connections = postgresConnections(address, {
    connectTimeout,
    queryTimeout,
    lockTimeout,
    onWarning,
  });
  const { read, transaction } = connections;
  try {
    await openSchema(connections, openTimeout, "write");
    const found = await cautions(connections, address);
    for (const message of [...address.cautions, ...found]) onWarning(message);
  } catch (error) {
    await connections.close();
    throw error;
  }

  // Several groups of each kind, so that those that hang do not keep others waiting. From 7 connections
  // on, gets, pages and look-ups of keys together leave one for creates.
  const { max } = address.driver;
  const maxUnderWay = Math.max(Math.min(max, 2), Math.floor((max - 1) / 3));
  const reads = { maxGroup: MAX_ROWS, maxUnderWay };
  const database: GroupStorage = {
    create: groupCreates(connections, idempotencyRetention),
    ...groupReads(read),
  };
  const pets = groupedPets(database, reads);
  const lookUps = groupLookUps(read, reads);

  return {
    idempotencyRetention,
    pool: connections.counts,
    apiKeys: apiKeyStorage(
      (action, sql, ...values) => read(action, sql, values),
      (action, sql, ...values) =>
        transaction(action, API_KEYS_LOCK, (send) => send(sql, values)),
      // `pg_catalog.`: see `turnSql` in turn.ts.
      "SELECT CAST(id AS bigint) FROM pg_catalog.json_array_elements_text(CAST(? AS json)) AS ids (id)",
      lookUps.run,
    ),

    ...pets,

    async ping() {
      await read("reach the database", "SELECT FROM pets LIMIT 1");
    },

    async close() {
      await Promise.all([pets.close(), lookUps.close()]);
      await connections.close();
    },
  };
}

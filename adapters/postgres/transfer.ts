/**
 * Records of a PostgreSQL database, as they are stored.
 *
 * @module
 */

import { parsePostgresUrl } from "./address.ts";
import { postgresApiKeys } from "./api_keys.ts";
import {
  type PostgresConnections,
  postgresConnections,
  type Row,
  type Send,
} from "./connections.ts";
import { API_KEYS_LOCK, openSchema, PETS_LOCK } from "./schema.ts";
import { API_KEYS, PETS, type StoredTable } from "../database/stored_row.ts";
import type {
  IdempotencyKeys,
  IfMissing,
  LastIds,
  Records,
  StoredIdempotencyKey,
  Transfer,
} from "../database/transfer.ts";

// Longer than a service would wait: all animals are counted in one statement.
const TIMEOUTS = {
  connectTimeout: 10_000,
  queryTimeout: 60_000,
  lockTimeout: 30_000,
};

// One server process has one start, and its databases and tables have numbers of their own.
const IDENTITY = {
  name: "identity",
  text:
    `SELECT concat_ws(' ', pg_postmaster_start_time(), oid, 'pets'::regclass::oid),
    pg_get_serial_sequence('pets', 'id'), pg_get_serial_sequence('api_keys', 'id'),
    to_regclass('idempotency_keys') IS NOT NULL
    FROM pg_database WHERE datname = current_database()`,
};

/**
 * Opens a database.
 *
 * @throws {TypeError} where the address is none.
 * @throws {StorageError} `unavailable` where it cannot be used; the message says why.
 */
export async function postgresTransfer(
  url: string,
  ifMissing: IfMissing,
): Promise<Transfer> {
  const connections = postgresConnections(parsePostgresUrl(url), TIMEOUTS);
  try {
    await openSchema(connections, 0, ifMissing);
    const [row] = await connections.read("open the database", IDENTITY, []);
    const [identity, pets, apiKeys, hasKeys] = row as [
      string,
      string,
      string,
      boolean,
    ];
    const keys = postgresApiKeys(connections);
    return {
      identity: `server ${identity}`,
      pets: records(connections, PETS, { sequence: pets, lock: PETS_LOCK }),
      apiKeys: records(connections, API_KEYS, {
        sequence: apiKeys,
        lock: API_KEYS_LOCK,
      }),
      revokeApiKey: ({ id, revoked }) =>
        keys.revoke(Number(id), new Date(Number(revoked))),
      idempotencyKeys: idempotencyKeys(connections, hasKeys),
      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function idempotencyKeys(
  connections: PostgresConnections,
  hasTable: boolean,
): IdempotencyKeys {
  const page = {
    name: "page of idempotency keys",
    text: `SELECT key, pet_id, created FROM idempotency_keys
      WHERE key > $1 ORDER BY key LIMIT $2`,
  };
  const keep = {
    name: "keep idempotency keys",
    text: `INSERT INTO idempotency_keys (key, pet_id, created)
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
      ON CONFLICT (key) DO UPDATE
      SET pet_id = excluded.pet_id, created = excluded.created`,
  };
  return {
    async read(after, limit) {
      if (!hasTable) return [];
      const action = "read idempotency keys";
      const rows: unknown = await connections.read(action, page, [
        after,
        limit,
      ]);
      return rows as readonly StoredIdempotencyKey[];
    },

    async write(rows) {
      await connections.write("copy idempotency keys", keep, [
        rows.map(([key]) => key),
        rows.map(([, petId]) => petId),
        rows.map(([, , created]) => created),
      ]);
    },
  };
}

/** What a table has beside its rows. */
interface Surroundings {
  /** The name of the sequence that gives its ids, as it stands in SQL. */
  readonly sequence: string;
  /** The advisory lock that those hold who add to it. */
  readonly lock: bigint;
}

function records<T extends { readonly id: bigint }>(
  connections: PostgresConnections,
  { name, plural, columns, types, toRecord, toRow }: StoredTable<T>,
  { sequence, lock }: Surroundings,
): Records<T> {
  const list = columns.join(", ");
  const count = {
    name: `count ${name}`,
    text: `SELECT count(*) FROM ${name} WHERE id > $1`,
  };
  const lastIds = {
    name: `last ids of ${name}`,
    text: `SELECT (SELECT coalesce(max(id), 0) FROM ${name}),
      CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM ${sequence}`,
  };
  const page = {
    name: `page of ${name}`,
    text: `SELECT ${list} FROM ${name} WHERE id > $1 ORDER BY id LIMIT $2`,
  };
  const restore = {
    name: `restore ${name}`,
    text: `INSERT INTO ${name} (${list}) SELECT ${list} FROM unnest(${
      types.map((type, index) => `$${index + 1}::${type}[]`)
    }) AS record (${list})`,
  };
  const continueAfter = {
    name: `continue ${name}`,
    text: "SELECT setval($1::regclass, $2)",
  };

  function readLastIds([row]: readonly Row[]): LastIds {
    const [stored, sequence] = row as [bigint, bigint];
    return { stored, given: sequence > stored ? sequence : stored };
  }

  /** Adds to the table, as the only one who does, knowing the last ids. */
  function add<R>(
    action: string,
    work: (send: Send, lastIds: LastIds) => Promise<R>,
  ): Promise<R> {
    return connections.transaction(
      action,
      lock,
      async (send) => work(send, readLastIds(await send(lastIds, []))),
    );
  }

  return {
    async count(after) {
      const action = `count ${plural}`;
      const [row] = await connections.read(action, count, [after]);
      return Number(row?.[0]);
    },

    async lastIds() {
      const action = `read ${plural}`;
      return readLastIds(await connections.read(action, lastIds, []));
    },

    async read(after, limit) {
      const action = `read ${plural}`;
      const rows = await connections.read(action, page, [after, limit]);
      return rows.map(toRecord);
    },

    restore: (records, after) =>
      add(`copy ${plural}`, async (send, { stored }) => {
        if (stored !== after) return false;
        const rows = records.map(toRow);
        await send(
          restore,
          columns.map((_, index) => rows.map((row) => row[index] ?? null)),
        );
        return true;
      }),

    continueAfter: (id) =>
      add(`continue the ids of ${plural}`, async (send, { given }) => {
        if (id > given) await send(continueAfter, [sequence, id]);
      }),
  };
}

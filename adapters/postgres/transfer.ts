/** Reads and writes whole tables of a PostgreSQL database. */

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

// Longer than a service's: one statement counts all pets.
const TIMEOUTS = {
  connectTimeout: 10_000,
  queryTimeout: 60_000,
  lockTimeout: 30_000,
};

// The identity of a database is the same for all its addresses.
const IDENTITY = {
  name: "identity",
  text:
    `SELECT concat_ws(' ', pg_postmaster_start_time(), oid, 'pets'::regclass::oid),
    pg_get_serial_sequence('pets', 'id'), pg_get_serial_sequence('api_keys', 'id'),
    to_regclass('idempotency_keys') IS NOT NULL
    FROM pg_database WHERE datname = current_database()`,
};

/** @throws {TypeError | StorageError} as `postgresStorage` does. */
export async function postgresTransfer(
  url: string,
  ifMissing: IfMissing,
): Promise<Transfer> {
  const connections = postgresConnections(parsePostgresUrl(url), TIMEOUTS);
  try {
    await openSchema(connections, 0, ifMissing);
    const [row] = await connections.read("open the database", IDENTITY);
    const [identity, pets, apiKeys] = row as [string, string, string];
    const keys = postgresApiKeys(connections);
    return {
      identity: `server ${identity}`,
      pets: records(connections, PETS, pets, PETS_LOCK),
      apiKeys: records(connections, API_KEYS, apiKeys, API_KEYS_LOCK),
      revokeApiKey: ({ id, revoked }) =>
        keys.revoke(Number(id), new Date(Number(revoked))),
      idempotencyKeys: idempotencyKeys(connections, row?.[3] === true),
      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function idempotencyKeys(
  { read, write }: PostgresConnections,
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
      const values = [after, limit];
      const rows: unknown = await read("read idempotency keys", page, values);
      return rows as readonly StoredIdempotencyKey[];
    },

    async write(rows) {
      await write("copy idempotency keys", keep, [
        rows.map(([key]) => key),
        rows.map(([, petId]) => petId),
        rows.map(([, , created]) => created),
      ]);
    },
  };
}

/** `sequence` gives the ids; `lock` is held while records are added. */
function records<T extends { readonly id: bigint }>(
  { read, transaction }: PostgresConnections,
  { name, plural, columns, types, toRecord, toRow }: StoredTable<T>,
  sequence: string,
  lock: bigint,
): Records<T> {
  const list = columns.join(", ");
  const count = {
    name: `count ${name}`,
    text: `SELECT count(*) FROM ${name} WHERE id > $1`,
  };
  const lastIds = {
    name: `last ids of ${name}`,
    text: `SELECT stored, greatest(stored,
        CASE WHEN is_called THEN last_value ELSE last_value - 1 END)
      FROM ${sequence}, (SELECT coalesce(max(id), 0) AS stored FROM ${name}) AS last`,
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
  const setLast = {
    name: `continue ${name}`,
    text: "SELECT setval($1::regclass, $2)",
  };

  function readLastIds([row]: readonly Row[]): LastIds {
    const [stored, given] = row as [bigint, bigint];
    return { stored, given };
  }

  /** Adds to the table while nobody else does. */
  function add<R>(
    action: string,
    work: (send: Send, lastIds: LastIds) => Promise<R>,
  ): Promise<R> {
    return transaction(
      action,
      lock,
      async (send) => work(send, readLastIds(await send(lastIds))),
    );
  }

  return {
    async count(after) {
      const [row] = await read(`count ${plural}`, count, [after]);
      return Number(row?.[0]);
    },

    lastIds: async () => readLastIds(await read(`read ${plural}`, lastIds)),

    read: async (after, limit) =>
      (await read(`read ${plural}`, page, [after, limit])).map(toRecord),

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
        if (id > given) await send(setLast, [sequence, id]);
      }),
  };
}

/** A PostgreSQL database whose tables are copied. */

import {
  type Access,
  API_KEYS,
  type Query,
  type Table,
  type Transfer,
} from "../database/transfer.ts";
import type { PostgresAddress } from "./address.ts";
import { numbered, postgresConnections } from "./connections.ts";
import { API_KEYS_LOCK, openSchema, PETS_LOCK } from "./schema.ts";

// Longer than a service's: one statement counts all pets.
const TIMEOUTS = {
  connectTimeout: 10_000,
  queryTimeout: 60_000,
  lockTimeout: 30_000,
};

const IDENTITY = {
  text:
    `SELECT concat_ws(' ', pg_postmaster_start_time(), oid, 'pets'::regclass::oid),
    pg_get_serial_sequence('pets', 'id'), pg_get_serial_sequence('api_keys', 'id')
    FROM pg_database WHERE datname = current_database()`,
};

/** @throws {StorageError} as `postgresStorage` does. */
export async function postgresTransfer(
  database: PostgresAddress,
  access: Access,
): Promise<Transfer> {
  // As through a pooler, statements have no names: the last page's is another one.
  const address = { ...database, pgbouncer: true };
  const connections = postgresConnections(address, TIMEOUTS);
  try {
    await openSchema(connections, 0, access);
    const [row] = await connections.read("open the database", IDENTITY);
    const [identity, ofPets, ofApiKeys] = row as [string, string, string];
    const sequence = ({ name }: Table) =>
      name === API_KEYS.name ? ofApiKeys : ofPets;

    const selectLastGiven = (table: Table) =>
      `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS given
      FROM ${sequence(table)}`;

    const write: Query = (table, sql, values) =>
      connections.transaction(
        `copy ${table.plural}`,
        table === API_KEYS ? API_KEYS_LOCK : PETS_LOCK,
        (send) => send(numbered(sql), values),
      );

    return {
      identity: `server ${identity}`,

      read: ({ plural }, sql, values) =>
        connections.read(`read ${plural}`, numbered(sql), values),

      write,

      select: (column) => column,

      selectLastGiven,

      async continueAfter(table, id) {
        const sql = `SELECT setval(CAST(? AS regclass), ?)
          FROM (${selectLastGiven(table)}) AS last WHERE given < ?`;
        await write(table, sql, [sequence(table), id, id]);
      },

      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

/** Copies the tables of a PostgreSQL database, or copies into them. */

import {
  type Access,
  API_KEYS,
  type Query,
  type Table,
  type Transfer,
} from "../transfer.ts";
import type { PostgresAddress } from "./address.ts";
import { postgresConnections } from "./connections.ts";
import { openSchema } from "./schema.ts";
import { API_KEYS_LOCK, PETS_LOCK } from "./turn.ts";

// Longer than a service's, because one statement counts all pets.
const TIMEOUTS = {
  connectTimeout: 10_000,
  queryTimeout: 60_000,
  lockTimeout: 30_000,
};

/** How long to wait for locks on tables that lack columns, in ms. */
const OPEN_TIMEOUT = 10_000;

const IDENTITY =
  `SELECT pg_catalog.concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid,
      'pets'::regclass::oid),
    pg_get_serial_sequence('pets', 'id'), pg_get_serial_sequence('api_keys', 'id')
    FROM pg_database WHERE datname = current_database()`;

/** @throws {StorageError} as `postgresStorage` does. */
export async function postgresTransfer(
  address: PostgresAddress,
  access: Access,
): Promise<Transfer> {
  const connections = postgresConnections(address, TIMEOUTS);
  try {
    await openSchema(
      connections,
      access === "write" ? OPEN_TIMEOUT : 0,
      access,
    );
    const [row] = await connections.read("open the database", IDENTITY);
    const [identity, ofPets, ofApiKeys] = row as [string, string, string];
    // Idempotency keys are written in the turn of pets; they have no ids.
    const objectsOf = ({ name }: Table) =>
      name === API_KEYS.name
        ? { lock: API_KEYS_LOCK, sequence: ofApiKeys }
        : { lock: PETS_LOCK, sequence: ofPets };

    const selectLastGiven = (table: Table) =>
      `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS given
      FROM ${objectsOf(table).sequence}`;

    const write: Query = (table, sql, values) =>
      connections.transaction(
        `copy ${table.plural}`,
        objectsOf(table).lock,
        (send) => send(sql, values),
      );

    return {
      identity: `server ${identity}`,

      read: ({ plural }, sql, values) =>
        connections.read(`read ${plural}`, sql, values),

      write,

      select: (column) => column,

      // `pg_catalog.`: see `turnSql` in turn.ts.
      jsonMembers: "pg_catalog.json_each(?)",

      selectLastGiven,

      async continueAfter(table, id) {
        const sql = `SELECT pg_catalog.setval(CAST(? AS regclass), ?)
          FROM (${selectLastGiven(table)}) AS last WHERE given < ?`;
        await write(table, sql, [objectsOf(table).sequence, id, id]);
      },

      close: () => connections.close(),
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

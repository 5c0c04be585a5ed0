/** A PostgreSQL database that is copied, or filled by a copy. */

import {
  type Access,
  API_KEYS,
  COUNT_ALL,
  NOT_EMPTY,
  PETS,
  type Source,
  type Table,
  type Target,
} from "../transfer.ts";
import type { PostgresAddress } from "./address.ts";
import { postgresConnections } from "./connections.ts";
import { openSchema } from "./schema.ts";
import { API_KEYS_LOCK, PETS_LOCK, turnSql } from "./turn.ts";

// Longer than a service's, because one statement counts all pets.
const TIMEOUTS = {
  connectTimeout: 10_000,
  queryTimeout: 60_000,
  lockTimeout: 30_000,
};

/** How long to wait for locks on tables that lack columns, in ms. */
const OPEN_TIMEOUT = 10_000;

/** @throws {StorageError} as `postgresStorage` does. */
export async function postgresSource(
  address: PostgresAddress,
): Promise<Source> {
  const { snapshot, sequenceOf, close } = await open(address, 0, "read");
  return {
    snapshot: (work) =>
      snapshot(
        "read the database",
        (send) => work((_action, sql, values) => send(sql, values)),
      ),

    select: (column) => column,

    selectLastGiven: (table) => selectLastGiven(sequenceOf(table)),

    close,
  };
}

/** @throws {StorageError} as `postgresStorage` does. */
export async function postgresTarget(
  address: PostgresAddress,
): Promise<Target> {
  const { transaction, lockTimeout, sequenceOf, close } = await open(
    address,
    OPEN_TIMEOUT,
    "write",
  );
  return {
    fill: (work) =>
      transaction("copy", PETS_LOCK, async (send) => {
        const lock = turnSql(API_KEYS_LOCK, "?");
        await send(`SELECT ${lock}`, [`${lockTimeout}ms`]);
        const [[count] = []] = await send(COUNT_ALL);
        if (count !== 0n) throw new Error(NOT_EMPTY);
        return await work((_action, sql, values) => send(sql, values));
      }),

    // `pg_catalog.`: see `turnSql` in turn.ts.
    jsonMembers: "pg_catalog.json_each(?)",

    async continueAfter(write, table, id) {
      const sequence = sequenceOf(table);
      const sql = `SELECT pg_catalog.setval(CAST(? AS regclass), ?)
          FROM (${selectLastGiven(sequence)}) AS last WHERE given < ?`;
      const action = `continue the ids of ${table.plural}`;
      await write(action, sql, [sequence, id, id]);
    },

    close,
  };
}

/** Connects, and finds the sequences of ids. */
async function open(
  address: PostgresAddress,
  openTimeout: number,
  access: Access,
) {
  const connections = postgresConnections(address, TIMEOUTS);
  try {
    await openSchema(connections, openTimeout, access);
    const tables = [PETS, API_KEYS];
    const [names = []] = await connections.read(
      "open the database",
      `SELECT ${
        tables.map(({ name }) => `pg_get_serial_sequence('${name}', 'id')`)
      }`,
    );
    const sequenceOf = (table: Table) => `${names[tables.indexOf(table)]}`;
    return { ...connections, sequenceOf };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function selectLastGiven(sequence: string): string {
  return `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS given
    FROM ${sequence}`;
}

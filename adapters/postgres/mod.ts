/**
 * Animals in PostgreSQL, through the driver `pg`: for any number of servers on any number of
 * machines. PostgreSQL 13 or later.
 *
 * A create that is fulfilled is committed. Creates that arrive together at one server share one
 * statement, and all servers take turns, so that ids become visible in ascending order.
 *
 * @module
 */

import type { ApiKeyStorage } from "../../core/keys/issued_keys.ts";
import { type CheckedPet, type Pet, petId } from "../../core/pets/pet.ts";
import {
  type PetStorage,
  StorageError,
  toPage,
} from "../../core/pets/pet_storage.ts";
import { checkAtLeast } from "../database/check_option.ts";
import { groupCommit } from "../database/group_commit.ts";
import { parsePostgresUrl } from "./address.ts";
import { postgresApiKeys } from "./api_keys.ts";
import { DURABLY, postgresConnections } from "./connections.ts";
import { openSchema, PETS_LOCK } from "./schema.ts";
import { PET_COLUMNS, STATUS_CODE, toPet } from "../database/stored_row.ts";

/** Settings of {@linkcode postgresStorage}. */
export interface PostgresStorageOptions {
  /**
   * How long to wait for a connection, at each server of the address, in ms; then the operation is
   * `unavailable`. Default: 3000.
   */
  readonly connectTimeout?: number;
  /**
   * How long to wait for the answer to a statement, in ms; then a read is `unavailable`, and a create
   * `outcome_unknown`. Default: 5000.
   */
  readonly queryTimeout?: number;
  /**
   * How long a statement waits for locks of others, in ms; then it is `unavailable`. To be less than
   * `queryTimeout`, so that it is known that nothing happened. Default: three fifths of
   * `queryTimeout`, and 3000 at most.
   */
  readonly lockTimeout?: number;
  /** How long to wait at the start for a database server that is not there yet, in ms. Default: 10000. */
  readonly openTimeout?: number;
  /** The most creates that share a statement. Default: 256. */
  readonly maxBatch?: number;
  /**
   * The most creates that wait to be sent; any more are `unavailable`, and so is one that waits longer
   * than 5 s. Default: 10000.
   */
  readonly maxQueue?: number;
}

/** A {@linkcode PetStorage} in PostgreSQL, and a place for the records of issued API keys. */
export interface PostgresStorage extends PetStorage {
  /** Records of issued API keys, in the same database. */
  readonly apiKeys: ApiKeyStorage;
}

// One statement, and so one transaction. A row to insert is there only once `turn` is, and it takes
// its id after that: so the lock is held from before the first id until the animals are visible to
// all others. Without it a reader could see an id before a smaller one.
const CREATE = {
  name: "create pets",
  text: `WITH turn AS MATERIALIZED (
      SELECT set_config('lock_timeout', $4, true),
        ${DURABLY},
        pg_advisory_xact_lock($5)
    )
    INSERT INTO pets (name, category_id, status)
    SELECT name, category_id, status
    FROM turn, unnest($1::text[], $2::bigint[], $3::smallint[])
      WITH ORDINALITY AS new (name, category_id, status, place)
    ORDER BY place
    RETURNING id`,
};
const GET = {
  name: "get pet",
  text: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1`,
};
const LIST = {
  name: "list pets",
  text: `SELECT ${PET_COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
};
const LIST_STATUS = {
  name: "list pets of status",
  text: `SELECT ${PET_COLUMNS} FROM pets
    WHERE status = $3 AND id > $1 ORDER BY id LIMIT $2`,
};
const PING = { name: "ping", text: "SELECT FROM pets LIMIT 1" };

/**
 * Opens a database of a PostgreSQL server, and makes its tables where there are none.
 *
 * The address is a connection URI of libpq, with several servers where one can take over from
 * another (the one that accepts writes is used), TLS by `sslmode`, `sslrootcert`, `sslcert`, `sslkey`,
 * and two parameters of its own: `connection_limit=N` (10 connections at most), and `pgbouncer=true`
 * for a pooler that gives every transaction another connection: statements are not prepared then.
 * Without `sslmode`, and without `PGSSLMODE`, the connection is not encrypted; `require` encrypts,
 * `verify-full` also checks who the server is.
 *
 * A connection that is lost is made anew by the next operation that needs one. A read that a fault
 * reached is `unavailable`; a create that was sent, and not answered, is `outcome_unknown`.
 *
 * On Deno it needs `--allow-net=HOST:PORT` and `--allow-env=PG*`; for a Unix socket `--allow-read` and
 * `--allow-write` of it.
 *
 * @throws {TypeError} where the address is none, or has a parameter that is unknown or wrong.
 * @throws {RangeError} where an option is out of range.
 * @throws {StorageError} `unavailable` where the database cannot be used; the message says why. The
 * tables of another program, or of a later version of this one, are left as they are.
 */
export async function postgresStorage(
  url: string,
  options: PostgresStorageOptions = {},
): Promise<PostgresStorage> {
  const {
    connectTimeout = 3000,
    queryTimeout = 5000,
    lockTimeout = Math.min(3000, Math.ceil(queryTimeout * 0.6)),
    openTimeout = 10_000,
    maxBatch = 256,
    maxQueue = 10_000,
  } = options;
  checkAtLeast("connectTimeout", connectTimeout, 1);
  checkAtLeast("queryTimeout", queryTimeout, 1);
  checkAtLeast("lockTimeout", lockTimeout, 1);
  checkAtLeast("openTimeout", openTimeout, 0);
  checkAtLeast("maxBatch", maxBatch, 1);
  checkAtLeast("maxQueue", maxQueue, 1);

  const connections = postgresConnections(parsePostgresUrl(url), {
    connectTimeout,
    queryTimeout,
    lockTimeout,
  });
  try {
    await openSchema(connections, openTimeout);
  } catch (error) {
    await connections.close();
    throw error;
  }

  async function commit(
    batch: readonly CheckedPet[],
  ): Promise<readonly Pet[]> {
    const rows = await connections.write("create pet", CREATE, [
      batch.map((pet) => pet.name),
      batch.map((pet) => pet.categoryId),
      batch.map((pet) => STATUS_CODE[pet.status]),
      `${lockTimeout}ms`,
      PETS_LOCK,
    ]);
    if (rows.length !== batch.length) {
      // A trigger of somebody's left some out, and nothing says which.
      throw new StorageError(
        "outcome_unknown",
        `Cannot tell the outcome (create pet): the database kept ${rows.length} of ${batch.length} animals`,
      );
    }
    return rows.map(([id], index) => {
      // In the order in which they were sent.
      const { name, categoryId, status } = batch[index] as CheckedPet;
      return { id: petId(id as bigint), name, categoryId, status };
    });
  }

  const creates = groupCommit({ commit, maxBatch, maxQueue, maxWait: 5000 });

  return {
    apiKeys: postgresApiKeys(connections),

    create: (pet) => creates.create(pet),

    async get(id) {
      const [row] = await connections.read("get pet", GET, [id]);
      return row && toPet(row);
    },

    async list({ limit, status, after = 0n }) {
      // One more than the page holds tells whether there is a next one.
      const rows = status === undefined
        ? await connections.read("list pets", LIST, [after, limit + 1])
        : await connections.read("list pets", LIST_STATUS, [
          after,
          limit + 1,
          STATUS_CODE[status],
        ]);
      return toPage(rows.map(toPet), limit);
    },

    async ping() {
      await connections.read("reach the database", PING, []);
    },

    async close() {
      await creates.close();
      await connections.close();
    },
  };
}

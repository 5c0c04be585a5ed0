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
import {
  type Create,
  type Created,
  groupCommit,
} from "../database/group_commit.ts";
import { parsePostgresUrl } from "./address.ts";
import { postgresApiKeys } from "./api_keys.ts";
import { DURABLY, postgresConnections, type Value } from "./connections.ts";
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
   * than 2 s, or is expected to. Default: 10000.
   */
  readonly maxQueue?: number;
  /** How long an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
  readonly idempotencyRetention?: number;
}

/** A {@linkcode PetStorage} in PostgreSQL, and a place for the records of issued API keys. */
export interface PostgresStorage extends PetStorage {
  /** Records of issued API keys, in the same database. */
  readonly apiKeys: ApiKeyStorage;
}

// One statement, and so one transaction. A row to insert is there only once `turn` is, and it takes
// its id after that: so the lock is held from before the first id until the animals are visible to
// all others. Without it a reader could see an id before a smaller one.
const TURN = `turn AS MATERIALIZED (
      SELECT set_config('lock_timeout', $4, true),
        ${DURABLY},
        pg_advisory_xact_lock($5)
    )`;
const CREATE = {
  name: "create pets",
  text: `WITH ${TURN}
    INSERT INTO pets (name, category_id, status)
    SELECT name, category_id, status
    FROM turn, unnest($1::text[], $2::bigint[], $3::smallint[])
      WITH ORDINALITY AS new (name, category_id, status, place)
    ORDER BY place
    RETURNING id`,
};
// By the clock of the database, which all servers share; and the one from which on keys are kept.
const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";
const OLDEST = `${NOW} - $7::bigint`;
// The same, if some have keys. What others committed while this waited for its turn cannot be selected,
// but it conflicts: a key that is known and not too old is left as it is, and is not in `claimed`; the
// id of its pet is never used then. Two old keys go for each that comes.
const CREATE_ONCE = {
  name: "create pets once",
  text: `WITH ${TURN}, new AS MATERIALIZED (
      SELECT *, nextval(pg_get_serial_sequence('pets', 'id')) AS id
      FROM (SELECT new.*
        FROM turn, unnest($1::text[], $2::bigint[], $3::smallint[], $6::text[])
          WITH ORDINALITY AS new (name, category_id, status, key, place)
        WHERE NOT EXISTS (SELECT FROM idempotency_keys AS known
          WHERE known.key = new.key AND created > ${OLDEST})
        ORDER BY place) AS sorted
    ), forgotten AS (
      DELETE FROM idempotency_keys
      WHERE created <= ${OLDEST} AND key IN (
        SELECT key FROM idempotency_keys
        WHERE created <= ${OLDEST} AND key <> ALL (array_remove($6, NULL))
        ORDER BY created LIMIT 2 * cardinality(array_remove($6, NULL)))
    ), claimed AS (
      INSERT INTO idempotency_keys AS known (key, pet_id, created)
      SELECT key, id, ${NOW} FROM new WHERE key IS NOT NULL
      ON CONFLICT (key) DO UPDATE
        SET pet_id = excluded.pet_id, created = excluded.created
        WHERE known.created <= ${OLDEST}
      RETURNING pet_id
    ), added AS (
      INSERT INTO pets (id, name, category_id, status)
      SELECT id, name, category_id, status FROM new
      WHERE key IS NULL OR id IN (SELECT pet_id FROM claimed)
      ORDER BY place
      RETURNING id
    )
    SELECT place, added.id FROM new LEFT JOIN added USING (id)
    WHERE key IS NULL OR id IN (SELECT pet_id FROM claimed)`,
};
const REPLAYS = {
  name: "pets of idempotency keys",
  text: `SELECT key, id, name, category_id, status
    FROM idempotency_keys JOIN pets ON id = pet_id WHERE key = ANY ($1)`,
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
    idempotencyRetention = 86_400_000,
  } = options;
  checkAtLeast("connectTimeout", connectTimeout, 1);
  checkAtLeast("queryTimeout", queryTimeout, 1);
  checkAtLeast("lockTimeout", lockTimeout, 1);
  checkAtLeast("openTimeout", openTimeout, 0);
  checkAtLeast("maxBatch", maxBatch, 1);
  checkAtLeast("maxQueue", maxQueue, 1);
  checkAtLeast("idempotencyRetention", idempotencyRetention, 0);

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

  const lock = [`${lockTimeout}ms`, PETS_LOCK];

  async function commit(
    batch: readonly Create[],
  ): Promise<readonly (Created | Error)[]> {
    const pets = batch.map(({ pet }) => pet);
    const values = [
      pets.map((pet) => pet.name),
      pets.map((pet) => pet.categoryId),
      pets.map((pet) => STATUS_CODE[pet.status]),
      ...lock,
    ];
    if (batch.some(({ key }) => key !== undefined)) {
      return await commitOnce(batch, values);
    }
    const rows = await connections.write("create pet", CREATE, values);
    // In the order in which they were sent.
    const ids = rows.map(([id]) => id as bigint);
    assertKept(ids, pets.length);
    return pets.map((pet, index) => withId(pet, ids[index]));
  }

  /** Commits a batch that has keys. */
  async function commitOnce(
    batch: readonly Create[],
    values: readonly Value[],
  ): Promise<readonly (Created | Error)[]> {
    const keys = batch.map(({ key }) => key ?? null);
    const rows = await connections.write("create pet", CREATE_ONCE, [
      ...values,
      keys,
      idempotencyRetention,
    ]);
    // Of those that were to be added, by place; the others were added before.
    const ids = new Map(rows.map(([place, id]) => [Number(place) - 1, id]));
    assertKept([...ids.values()].filter((id) => id !== null), ids.size);
    const known = keys.filter((_, index) => !ids.has(index));
    const replay = known.length === 0 ? none : await readReplays(known);
    return batch.map(({ pet, key }, index) =>
      ids.has(index) ? withId(pet, ids.get(index)) : replay(key)
    );
  }

  /** Reads the pets that were added with keys before. The batch is stored, whatever becomes of this. */
  async function readReplays(
    keys: readonly Value[],
  ): Promise<(key: string | undefined) => Created | Error> {
    try {
      const rows = await connections.read("create pet", REPLAYS, [keys]);
      const pets = new Map(rows.map(([key, ...row]) => [key, toPet(row)]));
      return (key) => {
        const pet = pets.get(key);
        return pet === undefined ? none() : { ...pet, replayed: true };
      };
    } catch (error) {
      return () => error instanceof Error ? error : new Error(String(error));
    }
  }

  const creates = groupCommit({ commit, maxBatch, maxQueue, maxWait: 2000 });

  return {
    apiKeys: postgresApiKeys(connections),

    create: (pet, options) => creates.create(pet, options?.idempotencyKey),

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

function withId({ name, categoryId, status }: CheckedPet, id: unknown): Pet {
  return { id: petId(id as bigint), name, categoryId, status };
}

/** A trigger of somebody's may leave some out, and nothing says which. */
function assertKept(ids: readonly unknown[], count: number): void {
  if (ids.length === count) return;
  throw new StorageError(
    "outcome_unknown",
    `Cannot tell the outcome (create pet): the database kept ${ids.length} of ${count} animals`,
  );
}

/** For a key that was forgotten between two statements. */
function none(): StorageError {
  return new StorageError(
    "unavailable",
    "Cannot create pet: its idempotency key expired just now",
  );
}

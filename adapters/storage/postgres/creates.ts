/**
 * Creates in PostgreSQL: pets that arrive together share a statement, which is its own transaction.
 */

import { type CheckedPet, type Pet, petId } from "../../../core/storage.ts";
import type { Create, Created, GroupStorage } from "../group_storage.ts";
import { storageError } from "../pet_database.ts";
import { orError, STATUS_CODE, toPet } from "../stored_row.ts";
import type { PostgresConnections } from "./connections.ts";
import { prepared, type Value } from "./statement.ts";
import { PETS_LOCK, turnSql } from "./turn.ts";

const ACTION = "create pet";
/** Why there is no pet for a key that is forgotten between `CREATE_ONCE` and `REPLAYS`. */
const JUST_EXPIRED = "its idempotency key expired just now";

// The parameters. The first three are values if there is one pet; the last two are CREATE_ONCE's.
const NEW = "$1::text[], $2::bigint[], $3::smallint[]";
const TURN = turnSql(PETS_LOCK, "$4");
const KEYS = "$5::text[]";
const RETENTION = "$6::bigint";

// Pets get their ids after the lock is taken. Otherwise a reader could see an id before a smaller
// one.
const INSERT = `WITH turn AS MATERIALIZED (SELECT ${TURN})
    INSERT INTO pets (name, category_id, status)`;
// A single pet without a key has its own statement, which is faster than a group of one.
const CREATE = prepared(`${INSERT}
    SELECT $1::text, $2::bigint, $3::smallint
    FROM turn
    RETURNING id`);
const CREATE_ALL = prepared(`${INSERT}
    SELECT name, category_id, status
    FROM turn, unnest(${NEW})
      WITH ORDINALITY AS new (name, category_id, status, place)
    ORDER BY place
    RETURNING id`);

// The clock of the database, which all servers share.
const NOW =
  "(extract(epoch FROM statement_timestamp()) OPERATOR(pg_catalog.*) 1000)::bigint";
const OLDEST = `${NOW} - ${RETENTION}`;

// For a batch with idempotency keys: adds the pets whose key was not used, and those without a key.
// Returns a row for each of these: its place in the batch, from 1, and its id, or NULL if a trigger
// ignored the pet. `REPLAYS` then reads the pets of the keys that were used.
//
// All parts see the tables as they were before `turn` waited for the lock. Only ON CONFLICT sees
// what other servers committed meanwhile.
//
// 1. `seen` has the stored records of these keys. A key is not used if its record expired, or if
//    its pet was deleted by hand.
// 2. `turn` waits for the lock. It also writes a WAL message, so that the commit waits for the
//    standby even when every key is a replay. It returns the keys so that PostgreSQL cannot skip it.
// 3. `new` has the pets to add, as far as `seen` knows, and gives them ids.
// 4. `claimed` stores their keys, and has the ids of the pets whose key it stored. A record that
//    exists is replaced only if `seen` has its pet, because then the key is not used. Any other was
//    written by another server just now, and is left alone.
// 5. `forgotten` deletes two expired keys for each key of the batch, but none that `claimed` may
//    change.
// 6. `added` adds the pets without a key, and those of `claimed`.
//
// The plan may have been made for small tables, so keys and pets are looked up one by one, in ways
// that only the primary key's index can serve: a join would read whole tables. `created + 0` keeps
// the index on `created` from being used.
export const CREATE_ONCE = prepared(`WITH seen AS MATERIALIZED (
      SELECT key, pet_id, created > ${OLDEST}
        AND (SELECT id FROM pets WHERE id = pet_id) IS NOT NULL AS is_used
      FROM idempotency_keys WHERE key = ANY (${KEYS})
    ), turn AS MATERIALIZED (
      SELECT ${TURN},
        pg_logical_emit_message(true, 'petstore', ''), ${KEYS} AS keys
    ), new AS MATERIALIZED (
      SELECT *, pg_catalog.nextval(pg_get_serial_sequence('pets', 'id')) AS id
      FROM (SELECT new.*
        FROM turn, unnest(${NEW}, turn.keys)
          WITH ORDINALITY AS new (name, category_id, status, key, place)
        WHERE (key IN (SELECT key FROM seen WHERE is_used)) IS NOT TRUE
        ORDER BY place) AS sorted
    ), claimed AS (
      INSERT INTO idempotency_keys AS known (key, pet_id, created)
      SELECT key, id, ${NOW} FROM new WHERE key IS NOT NULL
      ON CONFLICT (key) DO UPDATE
        SET pet_id = excluded.pet_id, created = excluded.created
        WHERE known.pet_id IN (SELECT pet_id FROM seen)
      RETURNING pet_id AS id
    ), forgotten AS (
      DELETE FROM idempotency_keys
      WHERE created + 0 <= ${OLDEST} AND key = ANY (ARRAY(
        SELECT key FROM idempotency_keys
        WHERE created <= ${OLDEST}
          AND key <> ALL (pg_catalog.array_remove(${KEYS}, NULL))
        ORDER BY created
        LIMIT 2 * pg_catalog.cardinality(pg_catalog.array_remove(${KEYS}, NULL))))
    ), added AS (
      INSERT INTO pets (id, name, category_id, status)
      SELECT id, name, category_id, status FROM new
      WHERE key IS NULL OR id IN (SELECT id FROM claimed)
      ORDER BY place
      RETURNING id
    )
    SELECT place, added.id FROM new LEFT JOIN added USING (id)
    WHERE key IS NULL OR id IN (SELECT id FROM claimed)`);

export const REPLAYS = prepared(`SELECT key, id, name, category_id, status
    FROM idempotency_keys JOIN pets ON id = pet_id WHERE key = ANY ($1)`);

/** Makes the function that stores groups of creates. */
export function groupCreates(
  { read, write, lockTimeout }: PostgresConnections,
  idempotencyRetention: number,
): GroupStorage["create"] {
  const valuesOf = (batch: readonly Create[]) => [
    batch.map(({ pet }) => pet.name),
    batch.map(({ pet }) => pet.categoryId),
    batch.map(({ pet }) => STATUS_CODE[pet.status]),
    `${lockTimeout}ms`,
  ];

  async function createAll(batch: readonly Create[]): Promise<readonly Pet[]> {
    const values = valuesOf(batch);
    const rows = batch.length === 1
      ? await write(ACTION, CREATE, values.flat()) // the values of its only pet
      : await write(ACTION, CREATE_ALL, values);
    assertKept(rows.length, batch.length);
    return batch.map(({ pet }, place) => withId(pet, rows[place]?.[0]));
  }

  async function createOnce(
    batch: readonly Create[],
  ): Promise<readonly (Created | Error)[]> {
    const keys = batch.map(({ key }) => key ?? null);
    const values = [...valuesOf(batch), keys, idempotencyRetention];
    const rows = await write(ACTION, CREATE_ONCE, values);
    assertKept(rows.filter(([, id]) => id !== null).length, rows.length);
    const ids = new Map(rows.map(([place, id]) => [Number(place) - 1, id]));
    const used = keys.filter((_, place) => !ids.has(place));
    // If this fails, the new pets are stored all the same.
    const replays = await readReplays(used).catch((error: Error) => error);
    return batch.map(({ pet, key }, place) => {
      if (ids.has(place)) return withId(pet, ids.get(place));
      if (replays instanceof Error) return replays;
      return replays.get(key) ??
        storageError("unavailable", ACTION, JUST_EXPIRED);
    });
  }

  /** Reads the pets of keys that were used before, by key. */
  async function readReplays(
    keys: readonly Value[],
  ): Promise<ReadonlyMap<unknown, Created | Error>> {
    const rows = keys.length === 0 ? [] : await read(ACTION, REPLAYS, [keys]);
    return new Map(rows.map(([key, ...row]) => [
      key,
      orError<Created>(() => ({ ...toPet(row), replayed: true })),
    ]));
  }

  return (batch) =>
    batch.some(({ key }) => key !== undefined)
      ? createOnce(batch)
      : createAll(batch);
}

function withId({ name, categoryId, status }: CheckedPet, id: unknown): Pet {
  return { id: petId(id as bigint), name, categoryId, status };
}

/** @throws {StorageError} if a trigger ignored some pets: CREATE_ALL does not say which. */
function assertKept(kept: number, count: number): void {
  if (kept === count) return;
  const reason = `the database kept ${kept} of ${count} pets`;
  throw storageError("outcome_unknown", ACTION, reason);
}

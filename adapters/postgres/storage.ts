/** The storage in PostgreSQL, of an address that is parsed. */

import { type CheckedPet, type Pet, petId } from "../../core/pets/pet.ts";
import { checkIntegers, checkNames } from "../../core/options.ts";
import { apiKeyStorage, type PetDatabase } from "../database/api_keys.ts";
import {
  type Create,
  type Created,
  groupedPets,
} from "../database/grouped_pets.ts";
import type { PostgresAddress } from "./address.ts";
import {
  DURABLY,
  numbered,
  postgresConnections,
  prepared,
  type Value,
} from "./connections.ts";
import { fault } from "./fault.ts";
import { groupLookUps, groupReads, orError } from "./reads.ts";
import { API_KEYS_LOCK, openSchema, PETS_LOCK } from "./schema.ts";
import { STATUS_CODE, toPet } from "../database/stored_row.ts";

/** Settings of `postgresStorage`. */
export interface PostgresStorageOptions {
  /**
   * Time to wait for a connection, at each server of the address, in ms; then the operation is
   * `unavailable`. Default: 3000.
   */
  readonly connectTimeout?: number;
  /**
   * Time to wait for the result of a statement, in ms; then a read is `unavailable`, and a create
   * `outcome_unknown`. After three fifths of it, or 3 s, a statement that waits for the locks of others
   * is `unavailable`. Default: 5000.
   */
  readonly queryTimeout?: number;
  /** Time to wait for a database server that cannot be reached yet, in ms. Default: 10000. */
  readonly openTimeout?: number;
  /** Time that an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
  readonly idempotencyRetention?: number;
}

// Rows take their ids after `turn` has the lock, which is held until the pets are visible to all others.
// Without it a reader could see an id before a smaller one.
const TURN = `turn AS MATERIALIZED (
      SELECT set_config('lock_timeout', $4, true),
        ${DURABLY},
        pg_advisory_xact_lock($5)
    )`;
const CREATE = prepared(`WITH ${TURN}
    INSERT INTO pets (name, category_id, status)
    SELECT name, category_id, status
    FROM turn, unnest($1::text[], $2::bigint[], $3::smallint[])
      WITH ORDINALITY AS new (name, category_id, status, place)
    ORDER BY place
    RETURNING id`);
// By the clock of the database, which all servers share.
const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";
const OLDEST = `${NOW} - $7::bigint`;
const IS_EXPIRED = `known.created <= ${OLDEST}`;
// For a batch with keys. What others committed while this waited for its turn cannot be selected, but it
// conflicts: a key that is known and not expired stays as it is, is not in `claimed`, and the id of its
// pet is never used. A key in `orphaned` counts as unused: its pet was deleted by hand. Each new key drops
// up to two expired ones.
//
// `logged` writes to the log even if every key is known. So the commit, and with it the replay, waits for
// the synchronous standby as a create does: the pets may not be there yet. OFFSET 0 keeps the planner from
// looking for the keys first: it would then skip `logged`, and `turn`, if every key is known.
//
// Keys and pets are looked up one by one, in ways that leave only the index of the primary key: the plan may
// be that of tables that were small, and a join would then read all of them. `created + 0` has no index.
export const CREATE_ONCE = prepared(`WITH ${TURN}, logged AS MATERIALIZED (
      SELECT pg_logical_emit_message(true, 'petstore', '') FROM turn
    ), orphaned AS MATERIALIZED (
      SELECT pet_id FROM idempotency_keys WHERE key = ANY ($6)
        AND (SELECT id FROM pets WHERE id = pet_id) IS NULL
    ), new AS MATERIALIZED (
      SELECT *, nextval(pg_get_serial_sequence('pets', 'id')) AS id
      FROM (SELECT new.*
        FROM (SELECT new.*
          FROM logged, unnest($1::text[], $2::bigint[], $3::smallint[], $6::text[])
            WITH ORDINALITY AS new (name, category_id, status, key, place)
          OFFSET 0) AS new
        WHERE (SELECT NOT ${IS_EXPIRED}
            AND pet_id NOT IN (SELECT pet_id FROM orphaned)
          FROM idempotency_keys AS known WHERE known.key = new.key) IS NOT TRUE
        ORDER BY place) AS sorted
    ), forgotten AS (
      DELETE FROM idempotency_keys AS known
      WHERE known.created + 0 <= ${OLDEST} AND key = ANY (ARRAY(
        SELECT key FROM idempotency_keys AS known
        WHERE ${IS_EXPIRED} AND key <> ALL (array_remove($6, NULL))
        ORDER BY created LIMIT 2 * cardinality(array_remove($6, NULL))))
    ), claimed AS (
      INSERT INTO idempotency_keys AS known (key, pet_id, created)
      SELECT key, id, ${NOW} FROM new WHERE key IS NOT NULL
      ON CONFLICT (key) DO UPDATE
        SET pet_id = excluded.pet_id, created = excluded.created
        WHERE ${IS_EXPIRED}
          OR known.pet_id IN (SELECT pet_id FROM orphaned)
      RETURNING pet_id
    ), added AS (
      INSERT INTO pets (id, name, category_id, status)
      SELECT id, name, category_id, status FROM new
      WHERE key IS NULL OR id IN (SELECT pet_id FROM claimed)
      ORDER BY place
      RETURNING id
    )
    SELECT place, added.id FROM new LEFT JOIN added USING (id)
    WHERE key IS NULL OR id IN (SELECT pet_id FROM claimed)`);
export const REPLAYS = prepared(`SELECT key, id, name, category_id, status
    FROM idempotency_keys JOIN pets ON id = pet_id WHERE key = ANY ($1)`);
/** The maximum number of rows that a group reads: gets wait while those of many pages are read. */
const MAX_ROWS = 1000;
const ACTION = "create pet";
const PING = { text: "SELECT FROM pets LIMIT 1" };

/** Opens the storage, as `postgresStorage` does. */
export async function openPostgres(
  address: PostgresAddress,
  options: PostgresStorageOptions = {},
): Promise<PetDatabase> {
  checkNames(
    options,
    ["connectTimeout", "queryTimeout", "openTimeout", "idempotencyRetention"],
    "postgresStorage",
  );
  const {
    connectTimeout = 3000,
    queryTimeout = 5000,
    openTimeout = 10_000,
    idempotencyRetention = 86_400_000,
  } = options;
  checkIntegers({ connectTimeout, queryTimeout }, 1);
  checkIntegers({ openTimeout, idempotencyRetention }, 0);

  // Less than `queryTimeout`, otherwise a lock timeout looks like an unknown outcome.
  const lockTimeout = Math.min(3000, Math.ceil(queryTimeout * 0.6));
  const timeouts = { connectTimeout, queryTimeout, lockTimeout };
  const connections = postgresConnections(address, timeouts);
  const { read, write, transaction } = connections;
  try {
    await openSchema(connections, openTimeout);
  } catch (error) {
    await connections.close();
    throw error;
  }

  async function commit(
    batch: readonly Create[],
  ): Promise<readonly (Created | Error)[]> {
    const keys = batch.map(({ key }) => key ?? null);
    const values: Value[] = [
      batch.map(({ pet }) => pet.name),
      batch.map(({ pet }) => pet.categoryId),
      batch.map(({ pet }) => STATUS_CODE[pet.status]),
      `${lockTimeout}ms`,
      PETS_LOCK,
    ];
    if (keys.every((key) => key === null)) {
      const rows = await write(ACTION, CREATE, values);
      const ids = rows.map(([id]) => id);
      assertKept(ids, batch.length);
      return batch.map(({ pet }, index) => withId(pet, ids[index]));
    }
    values.push(keys, idempotencyRetention);
    const rows = await write(ACTION, CREATE_ONCE, values);
    // The new pets by place; the others were added before.
    const ids = new Map(rows.map(([place, id]) => [Number(place) - 1, id]));
    assertKept([...ids.values()].filter((id) => id !== null), ids.size);
    const known = keys.filter((_, index) => !ids.has(index));
    // The batch is stored even if this fails.
    const replays = known.length === 0
      ? []
      : await read(ACTION, REPLAYS, [known])
        .catch((error: Error) => error);
    return batch.map(({ pet, key }, index) => {
      if (ids.has(index)) return withId(pet, ids.get(index));
      if (replays instanceof Error) return replays;
      const row = replays.find(([known]) => known === key);
      // Its key may have expired between the two statements.
      if (row === undefined) {
        const cause = new Error("its idempotency key expired just now");
        return fault("unavailable", ACTION, cause);
      }
      return orError(() => ({ ...toPet(row.slice(1)), replayed: true }));
    });
  }

  const reads = { maxGroup: MAX_ROWS, maxUnderWay: address.driver.max };
  const pets = groupedPets({ create: commit, ...groupReads(read), reads });
  const lookUps = groupLookUps(read, reads);

  return {
    apiKeys: {
      ...apiKeyStorage(
        (action, sql, ...values) => read(action, numbered(sql), values),
        (action, sql, ...values) =>
          transaction(
            action,
            API_KEYS_LOCK,
            (send) => send(numbered(sql), values),
          ),
      ),
      isActive: lookUps.run,
    },

    ...pets,

    async ping() {
      await read("reach the database", PING);
    },

    async close() {
      await Promise.all([pets.close(), lookUps.close()]);
      await connections.close();
    },
  };
}

function withId({ name, categoryId, status }: CheckedPet, id: unknown): Pet {
  return { id: petId(id as bigint), name, categoryId, status };
}

/** A trigger may leave some pets out, and nothing says which. */
function assertKept(ids: readonly unknown[], count: number): void {
  if (ids.length === count) return;
  const cause = new Error(`the database kept ${ids.length} of ${count} pets`);
  throw fault("outcome_unknown", ACTION, cause);
}

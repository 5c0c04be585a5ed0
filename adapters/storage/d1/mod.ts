/**
 * Stores pets in Cloudflare D1, through the binding of a Worker; no package is needed.
 *
 * Once a create resolves, it is committed at the primary database, which runs one transaction at a
 * time, so ids become visible in ascending order. D1 accepts no `bigint` and rounds beyond 2⁵³, so
 * an int64 is sent as text, until cloudflare/workerd#4195 is done.
 *
 * @module
 */

import {
  type Pet,
  rowsToRead,
  type StorageError,
  toPage,
} from "../../../core/storage.ts";
import { checkIntegers, checkNames } from "../../../core/kit.ts";
import { apiKeyStorage, type Run } from "../api_keys.ts";
import {
  addColumn,
  ADDED_COLUMNS,
  closedError,
  DEFAULT_RETENTION,
  type PetDatabase,
} from "../pet_database.ts";
import { TABLES } from "../sqlite_tables.ts";
import { STATUS_CODE, toPet } from "../stored_row.ts";
import { d1Fault } from "./fault.ts";

export type { PetDatabase } from "../pet_database.ts";
export type * from "../../../core/storage.ts";

/** The part of a D1 database, `env.DB` of a Worker, that is used. */
export interface D1Binding {
  /** Prepares a statement. */
  prepare(sql: string): D1Statement;
  /** Runs statements in one transaction. Rows are objects of columns. */
  batch(
    statements: D1Statement[],
  ): Promise<readonly { readonly results: readonly object[] }[]>;
}

/** The part of a prepared statement that is used. */
export interface D1Statement {
  /** Makes a statement with values for its parameters. */
  bind(...values: (string | number | null)[]): D1Statement;
}

// Without aliases: ORDER BY would use them (SQLite's document SELECT, "The ORDER BY clause") and
// sort text.
const COLUMNS = "CAST(id AS TEXT), name, CAST(category_id AS TEXT), status";
const SELECT = `SELECT ${COLUMNS} FROM pets WHERE`;
const PAGE = "id > CAST(? AS INTEGER) ORDER BY id LIMIT ?";
const INSERT =
  "INSERT INTO pets (name, category_id, status) SELECT ?, CAST(? AS INTEGER), ?";
// Each new key drops up to two expired ones, so the table shrinks. A pet may have been deleted by
// hand.
const FORGET_KEYS =
  `DELETE FROM idempotency_keys WHERE created <= ?1 AND (key = ?2
  OR key IN (SELECT key FROM idempotency_keys ORDER BY created LIMIT 2))
  OR key = ?2 AND NOT EXISTS (SELECT * FROM pets WHERE id = pet_id)`;
const KEEP_KEY =
  "INSERT OR IGNORE INTO idempotency_keys SELECT ?, max(id), ? FROM pets";
const BY_KEY = "SELECT pet_id FROM idempotency_keys WHERE key = ?";

/**
 * Makes a storage in D1. Its tables `pets`, `api_keys` and `idempotency_keys`, and their newest
 * columns, are created when a statement finds one missing. It can serve all requests of a Worker:
 * they do not wait for one another.
 *
 * @example Use it in a Worker
 * ```ts
 * import { createHandler, type Handler, type IssuedKeys, issuedKeys } from "@petstore/service";
 * import { type D1Binding, d1Storage } from "@petstore/service/d1";
 *
 * // Once, for all requests of a Worker. After each, `ctx.waitUntil(keys.flush())` writes when a
 * // key was last used.
 * function open({ DB }: { readonly DB: D1Binding }): { handle: Handler; keys: IssuedKeys } {
 *   const storage = d1Storage(DB);
 *   const keys = issuedKeys(storage.apiKeys);
 *   return { handle: createHandler({ storage, keys }), keys };
 * }
 * ```
 *
 * @param binding `env.DB`, but not a session of it, which may read from a replica that lags behind.
 * @param options how long idempotency keys are kept.
 * @returns the storage, whose `apiKeys` keeps issued keys.
 * @throws {TypeError} if the binding is missing, as it is if `wrangler.jsonc` does not name it.
 * @throws {RangeError} if `idempotencyRetention` is not an integer of at least 0.
 */
export function d1Storage(
  binding: D1Binding,
  options: {
    /** How long an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
    readonly idempotencyRetention?: number;
  } = {},
): PetDatabase {
  if (typeof binding?.prepare !== "function") {
    throw new TypeError(
      "d1Storage needs a D1 database: bind one in wrangler.jsonc, and pass it, such as env.DB",
    );
  }
  checkNames(options, ["idempotencyRetention"], "d1Storage");
  const { idempotencyRetention = DEFAULT_RETENTION } = options;
  checkIntegers({ idempotencyRetention }, 0);
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  const prepare = (sql: string, ...values: (string | number | null)[]) =>
    binding.prepare(sql).bind(...values);

  async function run(
    action: string,
    kind: StorageError["kind"],
    ...statements: D1Statement[]
  ): Promise<readonly (readonly unknown[])[]> {
    if (isClosed) throw closedError(action);
    const running = batch(binding, statements);
    underWay.add(running);
    try {
      const all = await running;
      return all.map(({ results }) => results.map(Object.values));
    } catch (error) {
      throw d1Fault(action, error, kind);
    } finally {
      underWay.delete(running);
    }
  }

  const read: Run = async (action, ...statement) =>
    (await run(action, "unavailable", prepare(...statement)))[0] ?? [];
  const write: Run = async (action, ...statement) =>
    (await run(action, "outcome_unknown", prepare(...statement)))[0] ?? [];

  return {
    idempotencyRetention,
    apiKeys: apiKeyStorage(read, write),

    async create({ name, categoryId, status }, { idempotencyKey: key } = {}) {
      const values = [name, `${categoryId}`, STATUS_CODE[status]];
      if (key === undefined) {
        const sql = `${INSERT} RETURNING ${COLUMNS}`;
        return readPet((await write("create pet", sql, ...values))[0]);
      }
      const now = Date.now();
      const [, added, , kept] = await run(
        "create pet",
        "outcome_unknown",
        prepare(FORGET_KEYS, now - idempotencyRetention, key),
        prepare(
          `${INSERT} WHERE NOT EXISTS (${BY_KEY}) RETURNING id`,
          ...values,
          key,
        ),
        prepare(KEEP_KEY, key, now),
        prepare(`${SELECT} id = (${BY_KEY})`, key),
      );
      const pet = readPet(kept?.[0]);
      return added?.length === 0 ? { ...pet, replayed: true } : pet;
    },

    async get(id) {
      const sql = `${SELECT} id = CAST(? AS INTEGER)`;
      return (await read("get pet", sql, `${id}`)).map(readPet)[0];
    },

    async list({ limit, status, after = 0n }) {
      const only = status ? `status = ${STATUS_CODE[status]} AND` : "";
      const sql = `${SELECT} ${only} ${PAGE}`;
      const rows = await read("list pets", sql, `${after}`, rowsToRead(limit));
      return toPage(rows.map(readPet), limit);
    },

    async ping() {
      await read("reach the database", "SELECT id FROM pets LIMIT 1");
    },

    async close() {
      isClosed = true;
      await Promise.allSettled(underWay);
    },
  };
}

/** Runs statements in one transaction; creates the tables, or columns, if one is missing. */
async function batch(
  binding: D1Binding,
  statements: D1Statement[],
): ReturnType<D1Binding["batch"]> {
  try {
    return await binding.batch(statements);
  } catch (error) {
    if (/no such table/.test(String(error))) {
      await binding.batch(TABLES.map((sql) => binding.prepare(sql)));
    } else if (isColumnMissing(error)) await addColumns(binding);
    else throw error;
  }
  return await binding.batch(statements);
}

/** Tells whether one of our newest columns is missing, and not one of another program's table. */
function isColumnMissing(error: unknown): boolean {
  const [, name] = /no (?:such column:|column named) (\w+)/
    .exec(String(error)) ?? [];
  return ADDED_COLUMNS.some(({ column }) => column === name);
}

/** Adds each column unless it exists: another Worker may be adding them too. */
async function addColumns(binding: D1Binding): Promise<void> {
  for (const added of ADDED_COLUMNS) {
    const statement = binding.prepare(addColumn(added, "INTEGER"));
    await binding.batch([statement]).catch((error) => {
      if (!/duplicate column name/.test(String(error))) throw error;
    });
  }
}

/** Reads a pet from a row of `COLUMNS`. */
function readPet(row: unknown): Pet {
  const [id, name, categoryId, code] = row as [string, string, string, number];
  return toPet([BigInt(id), name, BigInt(categoryId), code]);
}

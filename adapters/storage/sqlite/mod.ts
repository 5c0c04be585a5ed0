/**
 * Stores pets in an SQLite file, through `node:sqlite`: the same code on Deno, Bun and Node. On
 * Node 22 that module prints an `ExperimentalWarning` when it is loaded.
 *
 * Once a create resolves, it is on disk (`synchronous=FULL`). Creates that arrive together share one
 * transaction, and so do reads. Any number of processes on one machine may use the same file;
 * network file systems do not work.
 *
 * @module
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import {
  checkIntegers,
  checkNames,
  INT64_MAX,
  MAX_LIMIT,
  MAX_TIME,
  shown,
} from "../../../core/kit.ts";
import {
  type CheckedPet,
  type Page,
  type PageRequest,
  type Pet,
  type PetId,
  petId,
  rowsToRead,
  toPage,
} from "../../../core/storage.ts";
import { apiKeyStorage } from "../api_keys.ts";
import { DEFAULT_RETENTION, type PetDatabase } from "../pet_database.ts";
import type { Create, Created } from "../group_storage.ts";
import { groupedCreates } from "../grouped_pets.ts";
import { orError, PET_COLUMNS, STATUS_CODE, toPet } from "../stored_row.ts";
import { isFull } from "./fault.ts";
import { openSqliteFile } from "./open.ts";
import { readsInTurns } from "./reads.ts";

export type { PetDatabase } from "../pet_database.ts";
export type * from "../../../core/storage.ts";

/** The maximum number of turns of the event loop between two groups of creates. */
const MAX_TURNS = 64;

/** Settings of {@linkcode sqliteStorage}. */
export interface SqliteStorageOptions {
  /**
   * How long an operation waits for other processes that lock the file, in ms: 0 to 2147483647.
   * After that it is `unavailable`. Default: 5000.
   */
  readonly lockTimeout?: number;
  /** How long an idempotency key is kept, in ms; 0 keeps none. Default: 86400000 (24 hours). */
  readonly idempotencyRetention?: number;
}

/**
 * Opens an SQLite file. Creates it if it is missing, but not its directory.
 *
 * On Deno it needs `--allow-read` and `--allow-write` for the directory, because SQLite keeps two
 * more files there.
 *
 * A full disk makes creates `unavailable`, or `outcome_unknown`, until there is space again.
 * After an I/O error of a create, creates and `ping` are `unavailable` until a restart; the creates
 * that were being committed are `outcome_unknown`. So they are once a read finds the file damaged.
 *
 * Its files must stay as they are while it is open:
 *
 * - If the file itself is deleted or replaced, creates and `ping` are `unavailable` until it is back.
 *   If it is emptied, everything is, for good.
 * - If its `-wal` or `-shm` is deleted, replaced or emptied, everything is `unavailable` until a
 *   restart. If it was deleted, all that was committed is moved into the file, and the storage closes
 *   itself (`ended`). If the `-wal` was replaced or emptied, what it held is lost.
 *
 * What is replaced or emptied is noticed within 100 ms; what is emptied only from SQLite 3.51 on.
 *
 * Do not read or copy the file in the same process, for example with `fs.copyFile`: that releases
 * SQLite's locks on it, so that any other program deletes the `-wal`. Use `VACUUM INTO`, or copy in
 * another process.
 *
 * @example Open a file
 * ```ts
 * import { createHandler, issuedKeys } from "@petstore/service";
 * import { sqliteStorage } from "@petstore/service/sqlite";
 *
 * const storage = await sqliteStorage(`${await Deno.makeTempDir()}/pets.db`);
 * const handle = createHandler({ storage, keys: issuedKeys(storage.apiKeys) });
 * await storage.close();
 * ```
 *
 * @param path the path of the file; symbolic links are followed.
 * @param options how long to wait for locks, and how long idempotency keys are kept.
 * @returns the storage, whose `apiKeys` keeps issued keys.
 * @throws {TypeError} if the path is empty, `:memory:` or a URI.
 * @throws {RangeError} if an option is out of range.
 * @throws {StorageError} `unavailable` if the file cannot be used; the message says why. A file
 * that belongs to another program, or to another version of this one, is not changed.
 */
export async function sqliteStorage(
  path: string,
  options: SqliteStorageOptions = {},
): Promise<PetDatabase> {
  checkNames(options, ["lockTimeout", "idempotencyRetention"], "sqliteStorage");
  const { lockTimeout = 5000, idempotencyRetention = DEFAULT_RETENTION } =
    options;
  if (
    typeof path !== "string" || path === "" || path === ":memory:" ||
    path.startsWith("file:")
  ) {
    throw new TypeError(
      `The path of an SQLite file must be a path in the file system, not ${
        shown(path)
      }`,
    );
  }
  checkIntegers({ lockTimeout }, 0, MAX_TIME);
  checkIntegers({ idempotencyRetention }, 0);

  const database = await openSqliteFile(path, lockTimeout, "write");
  const { file } = database;
  const insert = file.prepare(
    "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)",
  );
  const lastId = file.prepare(
    "SELECT seq FROM sqlite_sequence WHERE name = 'pets'",
  );
  const byId = file.prepare(`SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`);
  const byKey = file.prepare(
    `SELECT ${PET_COLUMNS} FROM pets WHERE id =
      (SELECT pet_id FROM idempotency_keys WHERE key = ? AND created > ?)`,
  );
  const keepKey = file.prepare(
    "REPLACE INTO idempotency_keys VALUES (?, ?, ?)",
  );
  const forgetKeys = file.prepare(
    `DELETE FROM idempotency_keys WHERE key IN (SELECT key
      FROM idempotency_keys WHERE created <= ? ORDER BY created LIMIT 2)`,
  );

  function readPet(id: PetId): Pet | undefined {
    const row = byId.get(id);
    return row === undefined ? undefined : toPet(row);
  }

  function readPage({ limit, status, after = 0n }: PageRequest): Page {
    const only = status ? `status = ${STATUS_CODE[status]} AND` : "";
    const select =
      `SELECT ${PET_COLUMNS} FROM pets WHERE ${only} id > ? ORDER BY id`;
    const count = rowsToRead(limit);
    // Each limit that the service allows has its own statement, because binding it costs processor
    // time.
    const rows = limit <= MAX_LIMIT
      ? file.prepare(`${select} LIMIT ${count}`).all(after)
      : file.prepare(`${select} LIMIT ?`).all(after, count);
    return toPage(rows.map(toPet), limit);
  }

  function store({ name, categoryId, status }: CheckedPet): Pet {
    try {
      const code = STATUS_CODE[status];
      const { changes, lastInsertRowid } = insert.run(name, categoryId, code);
      if (Number(changes) === 1) {
        return { id: petId(BigInt(lastInsertRowid)), name, categoryId, status };
      }
    } catch (error) {
      if (!isFull(error) || lastId.get()?.[0] !== INT64_MAX) throw error;
      throw new Error("Cannot create pet: no ids are left", { cause: error });
    }
    throw new Error("Cannot create pet: a trigger on pets ignored the row");
  }

  function replay(row: unknown): Created | Error {
    return orError<Created>(() => ({ ...toPet(row), replayed: true }));
  }

  function storeOnce({ pet, key }: Create): Created | Error {
    if (key === undefined) return store(pet);
    const now = Date.now();
    const earlier = byKey.get(key, now - idempotencyRetention);
    if (earlier !== undefined) return replay(earlier);
    const created = store(pet);
    // Each new key drops up to two expired ones, so that the table shrinks without a pause.
    forgetKeys.run(now - idempotencyRetention);
    keepKey.run(key, created.id, now);
    return created;
  }

  const { create, close: finishCreates } = groupedCreates(async (group) => {
    const start = performance.now();
    const stored = await database.write(
      "create pet",
      () => group.map(storeOnce),
    );
    await letTurnsPass(performance.now() - start);
    return stored;
  });
  const reads = readsInTurns(database);

  return {
    idempotencyRetention,
    apiKeys: apiKeyStorage(
      (action, sql, ...values) =>
        database.read(action, () => file.prepare(sql).all(...values)),
      (action, sql, ...values) =>
        database.write(action, () => file.prepare(sql).all(...values)),
    ),

    create,

    get: (id) => reads.read("get pet", id, () => readPet(id)),

    list(request) {
      const query = { ...request }; // the caller may change it while it waits
      const key = `${query.limit} ${query.status} ${query.after}`;
      const reading = reads.read("list pets", key, () => readPage(query));
      // Equal lists share a page, and each caller may change its own.
      return reading.then((page) => ({ ...page, pets: page.pets.slice() }));
    },

    ping: () => database.ping(),

    ended: file.ended,

    async close() {
      reads.close();
      await finishCreates();
      await database.close();
    },
  };
}

/**
 * On Node, lets turns of the event loop pass without a commit: two for each ms that the last group
 * took. A new connection needs several turns until its request is read. If each of them waited for
 * a commit, new clients would wait for seconds on a slow disk.
 */
async function letTurnsPass(ms: number): Promise<void> {
  if ("Deno" in globalThis || "Bun" in globalThis) return;
  const turns = Math.min(Math.floor(2 * ms), MAX_TURNS);
  for (let turn = 0; turn < turns; turn++) await nextTurn();
}

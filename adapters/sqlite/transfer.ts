/** Reads and writes whole tables of an SQLite file. */

import { statSync } from "node:fs";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { sqliteApiKeys } from "./api_keys.ts";
import type { SqliteFile } from "./file.ts";
import { openSqliteFile } from "./open.ts";
import { API_KEYS, PETS, type StoredTable } from "../database/stored_row.ts";
import type {
  IdempotencyKeys,
  IfMissing,
  LastIds,
  Records,
  StoredIdempotencyKey,
  Transfer,
} from "../database/transfer.ts";

/** How long to wait for other processes that lock the file, in ms. */
const LOCK_TIMEOUT = 30_000;

/** @throws {StorageError} `unavailable` if the file cannot be used; the message says why. */
export async function sqliteTransfer(
  path: string,
  ifMissing: IfMissing,
): Promise<Transfer> {
  if (ifMissing === "refuse" && isMissing(path)) {
    throw new StorageError("unavailable", `Database not found: ${path}`);
  }
  const access = ifMissing === "refuse" ? "read" : "write";
  const file = await openSqliteFile(path, LOCK_TIMEOUT, access);
  const { dev, ino } = statSync(path, { bigint: true });
  const keys = sqliteApiKeys(file);
  return {
    identity: `file ${dev}:${ino}`,
    pets: records(file, PETS),
    apiKeys: records(file, API_KEYS),
    revokeApiKey: ({ id, revoked }) =>
      keys.revoke(Number(id), new Date(Number(revoked))),
    idempotencyKeys: idempotencyKeys(file),
    close: () => file.close(),
  };
}

function idempotencyKeys(file: SqliteFile): IdempotencyKeys {
  const table = file.prepare(
    "SELECT 1 FROM sqlite_schema WHERE name = 'idempotency_keys'",
  );
  return {
    read: (after, limit) =>
      file.read("read idempotency keys", () => {
        if (table.get() === undefined) return [];
        const rows: unknown = file.prepare(
          `SELECT key, pet_id, created FROM idempotency_keys
           WHERE key > ? ORDER BY key LIMIT ?`,
        ).all(after, limit);
        return rows as readonly StoredIdempotencyKey[];
      }),

    write: (rows) =>
      file.write("copy idempotency keys", () => {
        const keep = file.prepare(
          "REPLACE INTO idempotency_keys VALUES (?, ?, ?)",
        );
        for (const row of rows) keep.run(...row);
      }),
  };
}

/** An empty file has no tables either, and opening it would create them. */
function isMissing(path: string): boolean {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  } catch {
    // Opening it says why.
    return false;
  }
}

function records<T extends { readonly id: bigint }>(
  file: SqliteFile,
  { name, plural, columns, toRecord, toRow }: StoredTable<T>,
): Records<T> {
  const list = columns.join(", ");
  const count = file.prepare(`SELECT count(*) FROM ${name} WHERE id > ?`);
  const lastIds = file.prepare(
    `SELECT stored, max(stored, (SELECT coalesce(max(seq), 0)
      FROM sqlite_sequence WHERE name = '${name}'))
      FROM (SELECT coalesce(max(id), 0) AS stored FROM ${name})`,
  );
  const page = file.prepare(
    `SELECT ${list} FROM ${name} WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const insert = file.prepare(
    `INSERT INTO ${name} (${list}) VALUES (${columns.map(() => "?")})`,
  );
  // Before the first insert the table has no row there, and there is no key to replace it by.
  const forgetLast = file.prepare(
    `DELETE FROM sqlite_sequence WHERE name = '${name}'`,
  );
  const setLast = file.prepare(
    `INSERT INTO sqlite_sequence (name, seq) VALUES ('${name}', ?)`,
  );

  function readLastIds(): LastIds {
    const [stored, given] = lastIds.get() as unknown as [bigint, bigint];
    return { stored, given };
  }

  return {
    count: (after) =>
      file.read(
        `count ${plural}`,
        () => Number((count.get(after) as unknown as [bigint])[0]),
      ),

    lastIds: () => file.read(`read ${plural}`, readLastIds),

    read: (after, limit) =>
      file.read(`read ${plural}`, () => page.all(after, limit).map(toRecord)),

    restore: (records, after) =>
      file.write(`copy ${plural}`, () => {
        if (readLastIds().stored !== after) return false;
        for (const record of records) insert.run(...toRow(record));
        return true;
      }),

    continueAfter: (id) =>
      file.write(`continue the ids of ${plural}`, () => {
        if (id <= readLastIds().given) return;
        forgetLast.run();
        setLast.run(id);
      }),
  };
}

/** An SQLite file that is copied, or made by a copy. */

import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { storageError } from "../pet_database.ts";
import type { Query, Source, Target, Value } from "../transfer.ts";
import type { SqliteDatabase } from "./database.ts";
import { loadSqlite } from "./file.ts";
import { followLinks, openSqliteFile, OPTIONS } from "./open.ts";

/** How long to wait for other processes that lock the file, in ms. */
const LOCK_TIMEOUT = 30_000;

/** @throws {StorageError} `unavailable` if the file cannot be used; the message says why. */
export async function sqliteSource(path: string): Promise<Source> {
  const database = await openSqliteFile(path, LOCK_TIMEOUT, "read");
  return {
    async snapshot(work) {
      // On a connection of its own, because `SqliteDatabase` uses transactions itself.
      const db = new (loadSqlite().DatabaseSync)(path, OPTIONS);
      try {
        db.prepare("BEGIN").run();
        return await work(reader(db, database));
      } finally {
        db.close();
      }
    },

    // As bytes, because a string might be incomplete: SQLite does not check text (its document
    // Invalid UTF Policy), and Deno 2.9 cuts it at a NUL (`column_value` in its
    // ext/node_sqlite/statement.rs).
    select: (column) =>
      `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END`,

    selectLastGiven: ({ name }) =>
      `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '${name}'`,

    close: () => database.close(),
  };
}

/**
 * Makes what reads from a connection. It prepares each statement once, as `SqliteFile` does, and
 * refuses what it has read if the log was lost meanwhile: SQLite may have read old pages instead.
 */
function reader(db: DatabaseSync, database: SqliteDatabase): Query {
  const { file } = database;
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  return (action, sql, values = []) =>
    database.read(action, () => {
      const statement = statements.get(sql) ?? db.prepare(sql);
      statements.set(sql, statement);
      const rows = toRows(statement.all(...values));
      file.look();
      if (!file.isReadable) throw file.refusal(action);
      return rows;
    });
}

/**
 * A file that does not exist yet. It is made under another name beside its own, so that nobody
 * opens half of it. A copy that is killed leaves that one.
 *
 * @throws {Error} if the file, or a log of that name, exists.
 */
export function sqliteTarget(link: string): Target {
  const path = followLinks(link); // to where a server finds it
  assertNew(path);
  return {
    async fill(work) {
      const partial = `${path}.partial-${randomUUID().slice(0, 8)}`;
      try {
        const file = await openSqliteFile(partial, LOCK_TIMEOUT, "write");
        const result = await work(writer(file)).finally(() => file.close());
        // Closing moves the log into the file, but does not say if it could not.
        if (existsSync(`${partial}-wal`)) {
          const reason = "the new file could not be closed";
          throw storageError("unavailable", "copy", reason);
        }
        assertNew(path);
        syncFolder(dirname(path)); // if that fails, before there is a file
        renameSync(partial, path);
        syncFolder(dirname(path));
        return result;
      } catch (error) {
        for (const end of ["", "-wal", "-shm"]) {
          rmSync(`${partial}${end}`, { force: true });
        }
        throw error;
      }
    },

    jsonMembers: "json_each(?)",

    async continueAfter(write, { name, plural }, id) {
      const action = `continue the ids of ${plural}`;
      // A table has a row in sqlite_sequence from its first insert on.
      await write(action, "DELETE FROM sqlite_sequence WHERE name = ?", [name]);
      await write(action, "INSERT INTO sqlite_sequence VALUES (?, ?)", [
        name,
        id,
      ]);
    },

    close: () => Promise.resolve(),
  };
}

/** Each query is a transaction of its own: nobody else uses the file yet. */
function writer(db: SqliteDatabase): Query {
  return (action, sql, values: readonly Value[] = []) =>
    db.write(action, () => toRows(db.file.prepare(sql).all(...values)));
}

/** A log of an earlier file of that name would damage the new one. */
function assertNew(path: string): void {
  if (existsSync(path)) {
    throw new Error(
      `Cannot copy: ${path} exists already; name a new file, or move that one away`,
    );
  }
  for (const beside of [`${path}-wal`, `${path}-shm`].filter(existsSync)) {
    throw new Error(
      `Cannot copy: ${beside} is left of another file; move it away`,
    );
  }
}

/** Makes a rename survive a power cut. Windows cannot open folders, and needs no such call. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}

/** The type of rows with `OPTIONS`, which Deno 2.9 and Node's types do not know. */
function toRows(rows: unknown): readonly (readonly unknown[])[] {
  return rows as readonly (readonly unknown[])[];
}

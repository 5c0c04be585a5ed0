/** SQLite files for tests, SQL on connections of their own, and statements that do something else. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { TestContext } from "node:test";
import {
  type PetDatabase,
  sqliteStorage,
} from "../../adapters/storage/sqlite/mod.ts";
import { atEnd } from "./at_end.ts";
import { testUnless } from "./runtime.ts";
import { newFolder } from "./temporary_directory.ts";

/** The file of a test. Storages are closed after the test. */
export interface File {
  readonly t: TestContext;
  /** Where no file is yet, in a folder that only this test uses. */
  readonly path: string;
  /** Opens a storage there, or at another path. */
  readonly open: (
    path?: string,
    options?: Parameters<typeof sqliteStorage>[1],
  ) => Promise<PetDatabase>;
  /** Runs SQL there on a connection of its own, as {@linkcode runSql} does. */
  readonly sql: (text: string) => ReturnType<typeof runSql>;
}

/** Makes a function that registers tests, each on a file, or skips them for a reason. */
export function onFile(
  reason: string | false = false,
): (title: string, check: (file: File) => Promise<void>) => void {
  return (title, check) =>
    testUnless(reason)(title, async (t) => {
      const file = join(newFolder(t), "pets.db");
      await check({
        t,
        path: file,
        async open(path = file, options = {}) {
          const storage = await sqliteStorage(path, options);
          atEnd(t, () => storage.close());
          return storage;
        },
        sql: (text) => runSql(file, text),
      });
    });
}

/** Asserts that something is refused as unavailable, with this message. */
export async function assertUnavailable(
  act: Promise<unknown>,
  message: RegExp,
): Promise<void> {
  const expected = { name: "StorageError", kind: "unavailable", message };
  await assert.rejects(act, expected);
}

/** Runs SQL on a connection of its own, and returns the rows; several texts end in `;\n`. */
export function runSql(
  path: string,
  text: string,
): readonly Readonly<Record<string, unknown>>[] {
  const db = new DatabaseSync(path);
  try {
    const [rows = []] = text.split(";\n").map((one) => db.prepare(one).all())
      .slice(-1);
    return rows;
  } finally {
    db.close();
  }
}

/** Replaces what prepares statements, for all connections, until the test is over. */
export function onPrepare(
  t: TestContext,
  replace: (
    sql: string,
    prepare: (sql: string) => StatementSync,
  ) => StatementSync,
): void {
  const { prepare } = DatabaseSync.prototype;
  t.after(() => DatabaseSync.prototype.prepare = prepare);
  DatabaseSync.prototype.prepare = function (sql, ...rest) {
    return replace(sql, (sql) => prepare.call(this, sql, ...rest));
  };
}

/** The databases that tests of commands use, read by SQL instead of the tested code. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import type { PetDatabase } from "../../../adapters/storage/pet_database.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { atEnd } from "../../support/at_end.ts";
import { PATIENT, sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { newFolder } from "../../support/temporary_directory.ts";

/** A row, by names of columns. */
export type TextRow = Readonly<Record<string, string | null>>;

/** By kind: a database, which has no tables at first, at a path or an address. */
const PLACES = {
  /** A file that need not be there. */
  SQLite: (path: string) => ({
    url: `sqlite:${path}`,
    async query(sql: string): Promise<readonly TextRow[]> {
      const db = new DatabaseSync(path);
      db.exec("pragma busy_timeout = 10000");
      try {
        // Rows without a prototype are not equal to those of PostgreSQL.
        return db.prepare(sql).all().map((row) => ({ ...row })) as TextRow[];
      } finally {
        db.close();
      }
    },
    open: () => sqliteStorage(path),
  }),
  PostgreSQL: (url: string) => ({
    url,
    query: async (sql: string) => await runSql(url, sql) as readonly TextRow[],
    open: () => postgresStorage(url, PATIENT),
  }),
};

/** Makes a place for a test, which is closed after it. */
function place(t: TestContext, kind: keyof typeof PLACES, where: string) {
  const one = PLACES[kind](where);
  return {
    /** Its address, as passed to `copy`. */
    url: one.url,
    /** Runs a statement, whose columns must be text. */
    query: one.query,
    /** Opens it as a server does, which creates its tables. It is closed after the test. */
    async open(): Promise<PetDatabase> {
      const storage = await one.open();
      atEnd(t, () => storage.close());
      return storage;
    },
  };
}

type Place = ReturnType<typeof place>;

/** Two databases. */
export type Both = readonly [from: Place, to: Place, ...others: unknown[]];

/** Two databases, and the folder of their files. */
export type Given = readonly [from: Place, to: Place, folder: string];

/** What is copied, and to what. */
type Way = readonly [from: keyof typeof PLACES, to: keyof typeof PLACES];
export const TO_POSTGRES: Way = ["SQLite", "PostgreSQL"];
export const FROM_POSTGRES: Way = ["PostgreSQL", "SQLite"];
export const ON_FILES: Way = ["SQLite", "SQLite"];

/**
 * Prepares tests of copies, on files and on one database of the shared PostgreSQL server. The result
 * makes a function that registers those of one kind. Files are `a.db` and `b.db` in the test's own
 * folder.
 */
export async function testsOfCopies() {
  const { skip, emptyDatabase } = await sharedPostgres();
  return (way: Way) => {
    const isSkipped = way.includes("PostgreSQL") && skip;
    return (title: string, work: (given: Given) => Promise<void>) =>
      void test(title, { skip: isSkipped, timeout: 180_000 }, async (t) => {
        const folder = newFolder(t);
        const where = async (kind: Way[number], file: string) =>
          kind === "SQLite" ? join(folder, file) : await emptyDatabase();
        const from = place(t, way[0], await where(way[0], "a.db"));
        const to = place(t, way[1], await where(way[1], "b.db"));
        await work([from, to, folder]);
      });
  };
}

/** Creates the tables, and this many pets, with ids from 1. */
export async function fill(place: Place, count: number): Promise<void> {
  await (await place.open()).close();
  await place.query(
    `insert into pets (id, name, category_id, status)
      with recursive n (i) as (
        select cast(1 as bigint) union all select i + 1 from n where i < ${count}
      )
      select i, 'Animal ' || cast(i as text), i * 1000003, i % 3 from n`,
  );
}

/** Reads all pets, or all API keys. */
export function rowsOf(
  place: Place,
  table: "pets" | "api_keys",
): Promise<readonly TextRow[]> {
  return place.query(
    table === "pets"
      ? `select cast(id as text) as id, name, cast(category_id as text) as category_id,
        cast(status as text) as status from pets order by pets.id`
      : `select cast(id as text) as id, name, digest, cast(created as text) as created,
        cast(revoked as text) as revoked, cast(expires as text) as expires,
        cast(last_used as text) as last_used from api_keys order by api_keys.id`,
  );
}

/** Reads all of it. */
export async function content(place: Place): Promise<readonly TextRow[]> {
  return [
    ...await rowsOf(place, "pets"),
    ...await rowsOf(place, "api_keys"),
    ...await place.query(
      "select key, cast(pet_id as text) as id from idempotency_keys order by key",
    ),
  ];
}

/** Counts the pets. */
export async function countPets({ query }: Place): Promise<number> {
  const [row] = await query("select cast(count(*) as text) as n from pets");
  return Number(row?.n);
}

/** Like `deepEqual`, but fast if many rows differ. */
export function assertSame(
  actual: readonly TextRow[],
  expected: readonly TextRow[],
): void {
  expected.forEach((row, index) => assert.deepEqual(actual[index], row));
  assert.equal(actual.length, expected.length);
}

/** Tells whether it has no pets and no keys. */
export async function isEmpty(place: Place): Promise<boolean> {
  const { url } = place;
  const path = url.replace(/^sqlite:/, "");
  if (path !== url && !existsSync(path)) return true;
  return (await content(place)).length === 0;
}

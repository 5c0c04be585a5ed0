/** Databases for the tests of `copy`, read by SQL instead of the tested code. */

import assert from "node:assert/strict";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Access, Transfer } from "../../../adapters/database/transfer.ts";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { parsePostgresUrl } from "../../../adapters/postgres/address.ts";
import { postgresTransfer } from "../../../adapters/postgres/transfer.ts";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { sqliteTransfer } from "../../../adapters/sqlite/transfer.ts";
import type { PetDatabase } from "../../../adapters/database/api_keys.ts";
import { runSql } from "../../support/postgres/sql.ts";

/** A database. */
export interface Place {
  /** As `copy` is given it, in the folder of an SQLite file. */
  readonly address: string;
  /** The same from any folder. */
  readonly url: string;
  /** Runs a statement; its columns are to be text. */
  readonly query: (sql: string) => Promise<readonly TextRow[]>;
  /** Opens it as a server does, which makes its tables. */
  readonly open: () => Promise<PetDatabase>;
  /** Opens it as `copy` does. */
  readonly transfer: (access: Access) => Promise<Transfer>;
}

/** A row, by names of columns. */
export type TextRow = Readonly<Record<string, string | null>>;

/** All that is kept, in text. */
export interface Content {
  readonly pets: readonly TextRow[];
  readonly keys: readonly TextRow[];
}

const STATUSES = ["available", "pending", "sold"];

/** A file. */
export interface SqlitePlace extends Place {
  readonly path: string;
}

/** A file that need not be there. */
export function sqlitePlace(path: string): SqlitePlace {
  function connect(): DatabaseSync {
    const db = new DatabaseSync(path);
    db.exec("pragma busy_timeout = 10000");
    return db;
  }

  async function query(
    db: DatabaseSync,
    sql: string,
  ): Promise<readonly TextRow[]> {
    // Rows without a prototype are not equal to those of PostgreSQL.
    return db.prepare(sql).all().map((row) => ({ ...row })) as TextRow[];
  }

  return {
    path,
    address: `sqlite:${basename(path)}`,
    url: `sqlite:${path}`,
    async query(sql) {
      const db = connect();
      try {
        return await query(db, sql);
      } finally {
        db.close();
      }
    },
    open: () => sqliteStorage(path),
    transfer: (access) => sqliteTransfer(path, access),
  };
}

/** A database of a PostgreSQL server. */
export function postgresPlace(url: string): Place {
  return {
    address: url,
    url,
    query: async (sql) => await runSql(url, sql) as readonly TextRow[],
    open: () => postgresStorage(url),
    transfer: (access) => postgresTransfer(parsePostgresUrl(url), access),
  };
}

/** Makes the tables, and so many pets, from the id 1 on. */
export async function fill(place: Place, count: number): Promise<void> {
  const storage = await place.open();
  await storage.close();
  await place.query(
    `insert into pets (id, name, category_id, status)
      with recursive n (i) as (
        select cast(1 as bigint) union all select i + 1 from n where i < ${count}
      )
      select i, 'Animal ' || cast(i as text), i * 1000003, i % 3 from n`,
  );
}

/** Reads all of it. */
export async function content(place: Place): Promise<Content> {
  return {
    pets: await place.query(
      `select cast(id as text) as id, name, cast(category_id as text) as category_id,
        cast(status as text) as status from pets order by pets.id`,
    ),
    keys: await place.query(
      `select cast(id as text) as id, name, digest, cast(created as text) as created,
        cast(revoked as text) as revoked from api_keys order by api_keys.id`,
    ),
  };
}

/** Counts the pets. */
export async function countPets(
  { query }: Pick<Place, "query">,
): Promise<number> {
  const [row] = await query("select cast(count(*) as text) as n from pets");
  return Number(row?.n);
}

/** Like `deepEqual`, and quick if many rows differ. */
export function assertSame(actual: Content, expected: Content): void {
  for (const name of ["pets", "keys"] as const) {
    for (const [index, row] of expected[name].entries()) {
      assert.deepEqual(actual[name][index], row);
    }
    assert.equal(actual[name].length, expected[name].length);
  }
}

/** The pets as `GET` shows them, one in each line. */
export function petLines({ pets }: Content): string {
  return pets.map(({ id, name, category_id, status }) =>
    `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${category_id},` +
    `"status":"${STATUSES[Number(status)]}"}\n`
  ).join("");
}

/**
 * Waits until a copy has written some of `total` animals to a file, and holds it there. Between its
 * transactions a copy lets go of the file for a moment only, so this does not pause.
 *
 * @returns lets it go on.
 */
export async function holdInTheMiddle(
  { path }: SqlitePlace,
  total: number,
): Promise<() => void> {
  const db = new DatabaseSync(path);
  db.exec("pragma busy_timeout = 0");
  const deadline = performance.now() + 30_000;
  for (;;) {
    assert.ok(performance.now() < deadline, "it copies within 30 s");
    try {
      db.exec("begin immediate");
    } catch {
      continue; // the copy is writing
    }
    const count = Number(db.prepare("select count(*) as n from pets").get()?.n);
    assert.ok(count < total, "it is held before the end");
    const release = () => {
      db.exec("commit");
      db.close();
    };
    if (count > 0) return release;
    db.exec("commit");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Databases for the tests of `copy`, read by SQL instead of the tested code. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Access, Transfer } from "../../../adapters/database/transfer.ts";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { parsePostgresUrl } from "../../../adapters/postgres/address.ts";
import { postgresTransfer } from "../../../adapters/postgres/transfer.ts";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { sqliteTransfer } from "../../../adapters/sqlite/transfer.ts";
import type { PetDatabase } from "../../../adapters/database/pet_database.ts";
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
type TextRow = Readonly<Record<string, string | null>>;

const STATUSES = ["available", "pending", "sold"];

/** A file that need not be there. */
export function sqlitePlace(path: string): Place {
  return {
    address: `sqlite:${basename(path)}`,
    url: `sqlite:${path}`,
    async query(sql) {
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

/** Reads all pets, or all API keys. */
function rowsOf(
  place: Place,
  table: "pets" | "api_keys",
): Promise<readonly TextRow[]> {
  return place.query(
    table === "pets"
      ? `select cast(id as text) as id, name, cast(category_id as text) as category_id,
        cast(status as text) as status from pets order by pets.id`
      : `select cast(id as text) as id, name, digest, cast(created as text) as created,
        cast(revoked as text) as revoked from api_keys order by api_keys.id`,
  );
}

/** Reads all of it. */
export async function content(place: Place): Promise<readonly TextRow[]> {
  return [...await rowsOf(place, "pets"), ...await rowsOf(place, "api_keys")];
}

/** Counts the pets. */
export async function countPets(
  { query }: Pick<Place, "query">,
): Promise<number> {
  const [row] = await query("select cast(count(*) as text) as n from pets");
  return Number(row?.n);
}

/** Like `deepEqual`, and quick if many rows differ. */
export function assertSame(
  actual: readonly TextRow[],
  expected: readonly TextRow[],
): void {
  expected.forEach((row, index) => assert.deepEqual(actual[index], row));
  assert.equal(actual.length, expected.length);
}

/** The sum of the pets as `GET` shows them, one in each line. */
export async function petsSum(place: Place): Promise<string> {
  const hash = createHash("sha256");
  for (const { id, name, category_id, status } of await rowsOf(place, "pets")) {
    hash.update(
      `{"id":${id},"name":${
        JSON.stringify(name)
      },"categoryId":${category_id},` +
        `"status":"${STATUSES[Number(status)]}"}\n`,
    );
  }
  return hash.digest("hex");
}

/**
 * `sqliteStorage` and `postgresStorage`, each beside a bare loop of its driver with the same SQL. The bare
 * creates are a transaction each.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import pg from "pg";
import { postgresStorage } from "../../../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../../../adapters/sqlite/mod.ts";
import type { PetStorage } from "../../../../mod.ts";
import { serveTasks } from "../../reply.ts";
import { compareAll, type CompareOptions, type Comparison } from "./compare.ts";

interface Task extends CompareOptions {
  /** What the names of SQLite files begin with. */
  readonly path: string;
  /** An empty PostgreSQL database. */
  readonly url: string;
}

type StoredPet = Parameters<PetStorage["create"]>[0];
type Id = Parameters<PetStorage["get"]>[0];

/** The work of a storage on its bare driver. */
interface Bare {
  get(id: bigint): unknown;
  /** Pending pets. */
  list(after: bigint, limit: number): unknown;
  create(pet: StoredPet): unknown;
}

/** The least ratio that is good enough, by work and by how many are under way at once. */
type Targets = Readonly<Record<string, Readonly<Record<number, number>>>>;

const PETS = 10_000;
const COLUMNS = "id, name, category_id, status";
const BY_ID = `SELECT ${COLUMNS} FROM pets WHERE id = $1`;
const PENDING = `SELECT ${COLUMNS} FROM pets
  WHERE status = 1 AND id > $1 ORDER BY id LIMIT $2`;
const INSERT = `INSERT INTO pets (name, category_id, status)
  VALUES ($1, $2, $3) RETURNING id`;
const STATUSES = ["available", "pending", "sold"] as const;

const SQLITE_TARGETS: Targets = {
  get: { 1: 0.9, 64: 0.9 },
  list20: { 1: 0.8, 64: 0.8 },
  list100: { 1: 0.65, 64: 0.65 },
  create: { 1: 0.8, 64: 15 },
};
const READS = { 16: 0.75, 64: 0.75 };
const POSTGRES_TARGETS: Targets = {
  get: READS,
  list20: READS,
  list100: READS,
  create: { 64: 5 },
};

function toPet(row: unknown): unknown {
  const [id, name, categoryId, code] = row as readonly unknown[];
  return { id, name, categoryId, status: STATUSES[Number(code)] };
}

function numberedPet(i: number): StoredPet {
  const status = STATUSES[i % 3] ?? "available";
  return { name: `Pet ${i}`, categoryId: BigInt(i), status } as StoredPet;
}

function values({ name, categoryId, status }: StoredPet) {
  return [name, categoryId, STATUSES.indexOf(status)] as const;
}

function comparisons(
  database: string,
  storage: PetStorage,
  bare: Bare,
  targets: Targets,
): Comparison[] {
  const idOf = (i: number) => BigInt((i * 7919) % PETS + 1) as Id;
  const list = (limit: number) => ({
    baseline: (i: number) => bare.list(idOf(i) / 2n, limit),
    ours: (i: number) =>
      storage.list({ limit, after: idOf(i) / 2n, status: "pending" }),
  });
  const works = {
    get: {
      baseline: (i: number) => bare.get(idOf(i)),
      ours: (i: number) => storage.get(idOf(i)),
    },
    list20: list(20),
    list100: list(100),
    create: {
      baseline: (i: number) => bare.create(numberedPet(i)),
      ours: (i: number) => storage.create(numberedPet(i)),
    },
  };
  return Object.entries(works).flatMap(([work, ways]) =>
    Object.entries(targets[work] ?? {}).map(([atOnce, target]) => {
      const name = `${database} ${work}`;
      return { ...ways, name, target, atOnce: Number(atOnce) };
    })
  );
}

async function fill(storage: PetStorage): Promise<PetStorage> {
  for (let start = 0; start < PETS; start += 250) {
    const some = Array.from({ length: 250 }, (_, i) => numberedPet(start + i));
    await Promise.all(some.map((pet) => storage.create(pet)));
  }
  return storage;
}

/** As ours has it: prepared once, int64 as bigint, rows as arrays. */
function bareSqlite(path: string): Bare {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous = FULL");
  const [byId, pending, insert] = [BY_ID, PENDING, INSERT].map((sql) => {
    // Deno 2.9 has the second method, and no type for it yet.
    const statement: StatementSync & { setReturnArrays?(on: boolean): void } =
      db.prepare(sql.replaceAll(/\$\d/g, "?"));
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    return statement;
  });
  return {
    get: (id) => toPet(byId?.get(id)),
    list: (after, limit) => pending?.all(after, limit).map(toPet),
    create: (pet) => insert?.get(...values(pet)),
  };
}

/** As ours has it: prepared once for each of 10 connections, int64 as bigint, rows as arrays. */
function barePostgres(url: string): Bare {
  const getTypeParser = (oid: number, format?: "text" | "binary") =>
    oid === 20 ? BigInt : pg.types.getTypeParser(oid, format as "text");
  const pool = new pg.Pool({ connectionString: url, types: { getTypeParser } });
  async function query(text: string, ...values: unknown[]): Promise<unknown> {
    const statement = { name: text.slice(0, 60), text, values: [...values] };
    const { rows } = await pool.query({ ...statement, rowMode: "array" });
    return rows.map(toPet);
  }
  return {
    get: (id) => query(BY_ID, id),
    list: (after, limit) => query(PENDING, after, limit),
    create: (pet) => query(INSERT, ...values(pet)),
  };
}

await serveTasks(async ({ path, url, ...options }: Task) => {
  // Both files are filled alike: SQLite reads a file faster once something was written to it.
  await (await fill(await sqliteStorage(`${path}-bare.db`))).close();
  const sqlite = await fill(await sqliteStorage(`${path}.db`));
  const postgres = await fill(await postgresStorage(url));
  const bareFile = bareSqlite(`${path}-bare.db`);
  return await compareAll([
    ...comparisons("SQLite", sqlite, bareFile, SQLITE_TARGETS),
    ...comparisons("PostgreSQL", postgres, barePostgres(url), POSTGRES_TARGETS),
  ], options);
});

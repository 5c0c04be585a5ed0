// `sqliteStorage` and `postgresStorage`, each beside a bare loop of its driver with the same SQL. The bare
// creates are a transaction each.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import pg from "pg";
import { postgresStorage } from "../../../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../../../adapters/sqlite/mod.ts";
import type { PetStorage } from "../../../../mod.ts";
import { serveTasks } from "../../reply.ts";
import { compareAll, type CompareOptions, type Comparison } from "./compare.ts";

/** Also: what the names of SQLite files begin with, and an empty PostgreSQL database. */
interface Task extends CompareOptions {
  readonly path: string;
  readonly url: string;
}

type StoredPet = Parameters<PetStorage["create"]>[0];
type Id = Parameters<PetStorage["get"]>[0];

/** Prepares a statement of a bare driver: as ours has it, int64 as bigint, rows as arrays. */
type Prepare = (sql: string) => (...values: Value[]) => unknown;
type Value = bigint | number | string;

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
const POSTGRES_TARGETS: Targets = {
  get: { 16: 0.75, 64: 0.75 },
  list20: { 16: 0.75, 64: 0.75 },
  list100: { 16: 0.75, 64: 0.75 },
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

function comparisons(
  database: string,
  storage: PetStorage,
  prepare: Prepare,
  targets: Targets,
): Comparison[] {
  const [byId, pending, insert] = [BY_ID, PENDING, INSERT].map(prepare);
  const idOf = (i: number) => BigInt((i * 7919) % PETS + 1) as Id;
  const list = (limit: number) => ({
    baseline: (i: number) => pending?.(idOf(i) / 2n, limit),
    ours: (i: number) =>
      storage.list({ limit, after: idOf(i) / 2n, status: "pending" }),
  });
  const get = {
    baseline: (i: number) => byId?.(idOf(i)),
    ours: (i: number) => storage.get(idOf(i)),
  };
  const create = {
    baseline: (i: number) => insert?.(`Pet ${i}`, BigInt(i), i % 3),
    ours: (i: number) => storage.create(numberedPet(i)),
  };
  const works = { get, list20: list(20), list100: list(100), create };
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

function bareSqlite(path: string): Prepare {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA synchronous = FULL");
  return (sql) => {
    // Deno 2.9 has the second method, and no type for it yet.
    const statement: StatementSync & { setReturnArrays?(on: boolean): void } =
      db.prepare(sql.replaceAll(/\$\d/g, "?"));
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    return sql === PENDING
      ? (...values) => statement.all(...values).map(toPet)
      : (...values) => toPet(statement.get(...values));
  };
}

function barePostgres(url: string): Prepare {
  const getTypeParser = (oid: number, format?: "text" | "binary") =>
    oid === 20 ? BigInt : pg.types.getTypeParser(oid, format as "text");
  const pool = new pg.Pool({ connectionString: url, types: { getTypeParser } });
  let statements = 0;
  return (text) => {
    const statement = {
      name: `s${++statements}`,
      text,
      rowMode: "array",
    } as const;
    return async (...values) => {
      const { rows } = await pool.query({ ...statement, values });
      return rows.map(toPet);
    };
  };
}

await serveTasks(async ({ path, url, ...options }: Task) => {
  // Both files are filled alike: SQLite reads a file faster once something was written to it.
  await (await fill(await sqliteStorage(`${path}-bare.db`))).close();
  const sqlite = await fill(await sqliteStorage(`${path}.db`));
  const postgres = await fill(await postgresStorage(url));
  const bare = bareSqlite(`${path}-bare.db`);
  return await compareAll([
    ...comparisons("SQLite", sqlite, bare, SQLITE_TARGETS),
    ...comparisons("PostgreSQL", postgres, barePostgres(url), POSTGRES_TARGETS),
  ], options);
});

/**
 * What `postgresStorage` costs beside a bare loop of the driver `pg` that runs the same reads, and what
 * gathered creates gain over an `INSERT` each, at 1, 16 and 64 requests at once. The two take turns in
 * one run, on pools of the same size, so a noisy machine slows both.
 *
 * The server is the one of the tests: an npm package's, that of `TEST_POSTGRES_BIN`, or a database
 * at `TEST_DATABASE_URL`.
 *
 * ```sh
 * deno run -A bench/postgres_storage.ts
 * bun bench/postgres_storage.ts
 * node bench/postgres_storage.ts
 * ```
 *
 * @module
 */

import process from "node:process";
import pg from "pg";
import { postgresStorage } from "../adapters/storage/postgres.ts";
import {
  type NewPet,
  PET_STATUSES,
  petId,
  type PetStatus,
} from "../core/pet.ts";
import { startCluster } from "../tests/postgres/cluster.ts";
import { createDatabase, dropDatabase } from "../tests/postgres/database.ts";

const PETS = 10_000;
const ROUNDS = 15;
const AT_ONCE = [1, 16, 64];
/** How long each way works in a round, in ms. */
const ROUND_TIME = 150;
const COLUMNS = "id, name, category_id, status";

/** Two ways to do the same work, and the least ratio of their speeds at 16 and 64 that is good enough. */
interface Comparison {
  readonly name: string;
  readonly target: number;
  readonly bare: (i: number) => Promise<unknown>;
  readonly ours: (i: number) => Promise<unknown>;
}

const given = process.env.TEST_DATABASE_URL;
const cluster = given === undefined ? await startCluster() : undefined;
const url = await (cluster?.newDatabase() ?? createDatabase(given ?? ""));
const storage = await postgresStorage(url);
const pool = new pg.Pool({
  connectionString: url,
  max: 10,
  types: {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      oid === 20 ? BigInt : pg.types.getTypeParser(oid, format as "text"),
  },
});

for (let start = 0; start < PETS; start += 250) {
  const numbers = Array.from({ length: 250 }, (_, i) => start + i);
  await Promise.all(numbers.map((i) => storage.create(numbered(i))));
}

const comparisons: readonly Comparison[] = [
  {
    name: "get",
    target: 0.75,
    bare: async (i) =>
      (await query("get", `SELECT ${COLUMNS} FROM pets WHERE id = $1`, [
        idOf(i),
      ])).map(toPet),
    ours: (i) => storage.get(petId(idOf(i))),
  },
  {
    name: "list of 20",
    target: 0.75,
    bare: async (i) =>
      (await query(
        "list",
        `SELECT ${COLUMNS} FROM pets
          WHERE status = $3 AND id > $1 ORDER BY id LIMIT $2`,
        [idOf(i) / 2n, 20, 1],
      )).map(toPet),
    ours: (i) =>
      storage.list({ limit: 20, after: idOf(i) / 2n, status: "pending" }),
  },
  {
    name: "create",
    target: 5,
    bare: (i) => {
      const { name, categoryId, status } = numbered(i);
      return query(
        "create",
        `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3)
          RETURNING id`,
        [name, categoryId, PET_STATUSES.indexOf(status)],
      );
    },
    ours: (i) => storage.create(numbered(i)),
  },
];

const [row] = (await pool.query("SHOW server_version")).rows;
console.log(`${runtime()}, PostgreSQL ${row?.server_version}, ${PETS} pets`);
console.log("per second       at once    bare    ours  ratio: best  median");
for (const comparison of comparisons) {
  for (const atOnce of AT_ONCE) await compare(comparison, atOnce);
}

await pool.end();
await storage.close();
if (given !== undefined) await dropDatabase(url, given);
await cluster?.close();

async function compare(
  { name, target, bare, ours }: Comparison,
  atOnce: number,
): Promise<void> {
  const speeds: { readonly bare: number; readonly ours: number }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const speed = {
      bare: await speedOf(bare, atOnce),
      ours: await speedOf(ours, atOnce),
    };
    // The first round makes the connections.
    if (round >= 0) speeds.push(speed);
  }
  const ratios = speeds.map((speed) => speed.ours / speed.bare);
  const bareSpeed = median(speeds.map((speed) => speed.bare));
  const ourSpeed = median(speeds.map((speed) => speed.ours));
  const goal = name === "create" ? atOnce === 64 : atOnce > 1;
  console.log(
    [
      name.padEnd(15),
      String(atOnce).padStart(8),
      bareSpeed.toFixed(0).padStart(7),
      ourSpeed.toFixed(0).padStart(7),
      Math.max(...ratios).toFixed(2).padStart(12),
      median(ratios).toFixed(2).padStart(7),
      goal ? `(target ${target})` : "",
    ].join(" "),
  );
}

/** How often a second `work` is done, with so many at once. */
async function speedOf(
  work: (i: number) => Promise<unknown>,
  atOnce: number,
): Promise<number> {
  const start = performance.now();
  let count = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (performance.now() - start < ROUND_TIME) await work(count++);
  }));
  return count / (performance.now() - start) * 1000;
}

async function query(
  name: string,
  text: string,
  values: unknown[],
): Promise<readonly unknown[]> {
  const { rows } = await pool.query({ name, text, values, rowMode: "array" });
  return rows;
}

function toPet(row: unknown): unknown {
  const [id, name, categoryId, code] = row as readonly [
    bigint,
    string,
    bigint,
    number,
  ];
  return { id, name, categoryId, status: PET_STATUSES[code] };
}

function numbered(i: number): Required<NewPet> {
  const status: PetStatus = PET_STATUSES[i % 3] ?? "available";
  return { name: `Pet number ${i}`, categoryId: BigInt(i), status };
}

function idOf(i: number): bigint {
  return BigInt((i * 7919) % PETS + 1);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function runtime(): string {
  const { bun, deno, node } = process.versions;
  if (deno !== undefined) return `Deno ${deno}`;
  return bun === undefined ? `Node ${node}` : `Bun ${bun}`;
}

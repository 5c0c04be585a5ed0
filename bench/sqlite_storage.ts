/**
 * What `sqliteStorage` costs beside a bare `node:sqlite` loop that runs the same SQL, and what group
 * commit gains over a transaction each. The two take turns in one run, so a noisy machine slows both.
 *
 * ```sh
 * deno run -A bench/sqlite_storage.ts
 * bun bench/sqlite_storage.ts
 * node bench/sqlite_storage.ts
 * ```
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { sqliteStorage } from "../adapters/storage/sqlite.ts";
import {
  type NewPet,
  PET_STATUSES,
  petId,
  type PetStatus,
} from "../core/pet.ts";

const PETS = 10_000;
/** How often two ways of reading take turns. */
const ROUNDS = 15;
/** How often two ways of writing do: more, because the speed of a disk changes within a second. */
const WRITE_ROUNDS = 150;

/** Two ways to do the same work, and the least share of the bare speed that is good enough. */
interface Comparison {
  readonly name: string;
  readonly target: number;
  readonly rounds: number;
  /** How often each way does its work in a round. */
  readonly times: number;
  readonly bare: (i: number) => unknown;
  readonly ours: (i: number) => Promise<unknown>;
}

const directory = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const storage = await sqliteStorage(join(directory, "ours.db"));
await (await sqliteStorage(join(directory, "bare.db"))).close();
const db = new DatabaseSync(join(directory, "bare.db"));
db.prepare("PRAGMA synchronous = FULL").run();

const COLUMNS = "id, name, category_id, status";
const byId = prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const page = prepare(
  `SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
);
const insert = prepare(
  "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)",
);

for (let start = 0; start < PETS; start += 500) {
  const numbers = Array.from({ length: 500 }, (_, i) => start + i);
  await Promise.all(numbers.map((i) => storage.create(numbered(i))));
}
db.exec("BEGIN");
for (let i = 0; i < PETS; i++) bareCreate(i);
db.exec("COMMIT");

const comparisons: readonly Comparison[] = [
  {
    name: "get",
    target: 0.90,
    rounds: ROUNDS,
    times: 5000,
    bare: (i) => toPet(byId.get(idOf(i))),
    ours: (i) => storage.get(petId(idOf(i))),
  },
  ...[20, 100].map((limit): Comparison => ({
    name: `list of ${limit}`,
    target: limit === 20 ? 0.80 : 0.65,
    rounds: ROUNDS,
    times: 500,
    bare: (i) => page.all(1, idOf(i) / 2n, limit).map(toPet),
    ours: (i) =>
      storage.list({ limit, after: idOf(i) / 2n, status: "pending" }),
  })),
  {
    name: "create alone",
    target: 0.80,
    rounds: WRITE_ROUNDS,
    times: 10,
    bare: bareCreate,
    ours: (i) => storage.create(numbered(i)),
  },
];

console.log(`${runtime()}, ${PETS} pets, best and median of all rounds`);
for (const comparison of comparisons) await compare(comparison);
for (const { name, target, bare, ours } of comparisons) {
  const isCreate = name === "create alone";
  for (const atOnce of [16, 64]) {
    // A commit for all that are under way at once: so much is gained.
    const least = isCreate ? (atOnce === 64 ? 15 : 1) : target;
    await compareAtOnce(isCreate ? "create" : name, atOnce, {
      bare,
      ours,
      target: least,
    });
  }
}

db.close();
await storage.close();
rmSync(directory, { recursive: true });

async function compare(comparison: Comparison): Promise<void> {
  const { name, target, rounds, times, bare, ours } = comparison;
  const costs: { readonly bare: number; readonly ours: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let i = 0; i < times; i++) bare(i);
    const middle = performance.now();
    for (let i = 0; i < times; i++) await ours(i);
    const end = performance.now();
    costs.push({ bare: middle - start, ours: end - middle });
  }
  const bareCost = best(costs.map((cost) => cost.bare)) / times;
  const ourCost = best(costs.map((cost) => cost.ours)) / times;
  report(
    name,
    target,
    bareCost / ourCost,
    median(
      costs.map((cost) => cost.bare / cost.ours),
    ),
    `${us(ourCost)} against ${us(bareCost)} µs`,
  );
}

/** With so many requests at once; the bare loop does one after the other, for its calls block. */
async function compareAtOnce(
  name: string,
  atOnce: number,
  { bare, ours, target }: Pick<Comparison, "bare" | "ours" | "target">,
): Promise<void> {
  const each = 40;
  const ratios: number[] = [];
  const speeds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < 200; i++) bare(i);
    const middle = performance.now();
    await Promise.all(Array.from({ length: atOnce }, async (_, i) => {
      for (let n = 0; n < each; n++) await ours(i * each + n);
    }));
    const end = performance.now();
    const bareSpeed = 200 / (middle - start);
    const ourSpeed = (atOnce * each) / (end - middle);
    ratios.push(ourSpeed / bareSpeed);
    speeds.push(ourSpeed);
  }
  report(
    `${name} at ${atOnce}`,
    target,
    Math.max(...ratios),
    median(ratios),
    `${Math.round(median(speeds) * 1000)} a second`,
  );
}

function report(
  name: string,
  target: number,
  bestRatio: number,
  medianRatio: number,
  detail: string,
): void {
  console.log(
    `${name.padEnd(17)} best ${bestRatio.toFixed(2).padStart(6)}  median ${
      medianRatio.toFixed(2).padStart(6)
    }  target ${target.toFixed(2).padStart(5)}  (${detail})`,
  );
}

function bareCreate(i: number): void {
  const { name, categoryId, status } = numbered(i);
  insert.run(name, categoryId, PET_STATUSES.indexOf(status));
}

function toPet(row: unknown): unknown {
  const [id, name, categoryId, code] = row as readonly [
    bigint,
    string,
    bigint,
    bigint,
  ];
  return { id, name, categoryId, status: PET_STATUSES[Number(code)] };
}

function numbered(i: number): Required<NewPet> {
  const status: PetStatus = PET_STATUSES[i % 3] ?? "available";
  return { name: `Pet number ${i}`, categoryId: BigInt(i), status };
}

function idOf(i: number): bigint {
  return BigInt((i * 7919) % PETS + 1);
}

function prepare(sql: string): ReturnType<DatabaseSync["prepare"]> {
  const statement: ReturnType<DatabaseSync["prepare"]> & {
    setReturnArrays?(enabled: boolean): void;
  } = db.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays?.(true);
  return statement;
}

function runtime(): string {
  const { bun, deno, node } = process.versions;
  if (deno !== undefined) return `Deno ${deno}`;
  return bun === undefined ? `Node ${node}` : `Bun ${bun}`;
}

function best(costs: readonly number[]): number {
  return Math.min(...costs);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function us(ms: number): string {
  return (ms * 1000).toFixed(2);
}

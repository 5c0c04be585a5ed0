/**
 * What the storages are compared on: the pets, which of them are asked for, and how a bare loop reads a
 * row.
 *
 * @module
 */

import type { PetStorage } from "../../../../mod.ts";
import type { Comparison } from "./compare.ts";

/** How many pets there are before. */
export const PETS = 10_000;
const STATUSES = ["available", "pending", "sold"] as const;

/** What a storage takes. */
export type StoredPet = Parameters<PetStorage["create"]>[0];

/** A pet with a number of its own: a third of them in each status. */
export function numberedPet(i: number): StoredPet {
  const status = STATUSES[i % 3] ?? "available";
  return { name: `Pet number ${i}`, categoryId: BigInt(i), status };
}

/** The ids in an order that jumps about. */
export function jumpingId(i: number): Parameters<PetStorage["get"]>[0] {
  return BigInt((i * 7919) % PETS + 1) as Parameters<PetStorage["get"]>[0];
}

/** The columns in the order that {@linkcode readRow} takes them. */
export const COLUMNS = "id, name, category_id, status";

/** Makes a pet of a row and checks nothing. */
export function readRow(row: unknown): unknown {
  const [id, name, categoryId, code] = row as readonly [
    bigint,
    string,
    bigint,
    bigint | number,
  ];
  return { id, name, categoryId, status: STATUSES[Number(code)] };
}

/** Adds the pets. */
export async function fill(storage: PetStorage): Promise<void> {
  for (let start = 0; start < PETS; start += 250) {
    const some = Array.from({ length: 250 }, (_, i) => numberedPet(start + i));
    await Promise.all(some.map((pet) => storage.create(pet)));
  }
}

/** The same work on the bare driver. */
export interface Bare {
  get(id: bigint): unknown;
  /** Pending pets with an id above `after`. */
  list(after: bigint, limit: number): unknown;
  create(pet: StoredPet): unknown;
}

/** A storage beside its driver: each work with its targets, by how many are under way at once. */
export function comparisons(
  storage: PetStorage,
  bare: Bare,
  targets: Readonly<Record<string, Readonly<Record<number, number>>>>,
): Comparison[] {
  const list = (limit: number) => ({
    baseline: (i: number) => bare.list(jumpingId(i) / 2n, limit),
    ours: (i: number) =>
      storage.list({ limit, after: jumpingId(i) / 2n, status: "pending" }),
  });
  const works = {
    get: {
      baseline: (i: number) => bare.get(jumpingId(i)),
      ours: (i: number) => storage.get(jumpingId(i)),
    },
    list20: list(20),
    list100: list(100),
    create: {
      baseline: (i: number) => bare.create(numberedPet(i)),
      ours: (i: number) => storage.create(numberedPet(i)),
    },
  };
  return Object.entries(works).flatMap(([name, work]) =>
    Object.entries(targets[name] ?? {}).map(([atOnce, target]) => ({
      ...work,
      name,
      target,
      atOnce: Number(atOnce),
    }))
  );
}

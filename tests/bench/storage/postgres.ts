/**
 * `postgresStorage` beside a bare loop of the driver `pg`, on the runtime that runs this. The part
 * `storage` starts it.
 *
 * @module
 */

import process from "node:process";
import pg from "pg";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { STATUS_CODE } from "../../../adapters/database/stored_row.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { readTask } from "../in_runtime.ts";
import { jumpingId, numberedPet } from "../sample_pets.ts";
import { waiting } from "../way.ts";
import { barePet, COLUMNS } from "./bare_pet.ts";
import {
  compareAll,
  type Comparison,
  type ComparisonOptions,
} from "./comparison.ts";
import { fill, PETS } from "./fill.ts";

/** What this program is given. */
export interface PostgresTask extends ComparisonOptions {
  /** A database that nobody else uses. */
  readonly url: string;
}

/** Sends a statement that is prepared once for each connection. */
type Query = (
  name: string,
  text: string,
  values: readonly unknown[],
) => Promise<readonly unknown[]>;

async function main({ url, ...options }: PostgresTask): Promise<void> {
  const storage = await postgresStorage(url);
  await fill(storage);
  const pool = new pg.Pool({
    connectionString: url,
    max: 10, // as ours has
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === 20 ? BigInt : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  async function query(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly unknown[]> {
    const { rows } = await pool.query({
      name,
      text,
      values: [...values],
      rowMode: "array",
    });
    return rows;
  }
  const rows = await compareAll(comparisons(query, storage), options);
  await pool.end();
  await storage.close();
  console.log(JSON.stringify(rows));
}

function comparisons(
  query: Query,
  storage: PetStorage,
): readonly Comparison[] {
  const pages = (limit: number): Comparison => ({
    name: `list of ${limit}`,
    bare: waiting(async (i) => {
      const rows = await query(
        "list",
        `SELECT ${COLUMNS} FROM pets
          WHERE status = $3 AND id > $1 ORDER BY id LIMIT $2`,
        [jumpingId(i, PETS) / 2n, limit, STATUS_CODE.pending],
      );
      return rows.map(barePet);
    }),
    ours: waiting((i) =>
      storage.list({
        limit,
        after: jumpingId(i, PETS) / 2n,
        status: "pending",
      })
    ),
    targets: { 16: 0.75, 64: 0.75 },
  });
  return [
    {
      name: "get",
      bare: waiting(async (i) => {
        const rows = await query(
          "get",
          `SELECT ${COLUMNS} FROM pets WHERE id = $1`,
          [jumpingId(i, PETS)],
        );
        return rows.map(barePet);
      }),
      ours: waiting((i) => storage.get(jumpingId(i, PETS))),
      targets: { 16: 0.75, 64: 0.75 },
    },
    pages(20),
    pages(100),
    {
      name: "create",
      bare: waiting((i) => {
        const { name, categoryId, status } = numberedPet(i);
        return query(
          "create",
          `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3)
            RETURNING id`,
          [name, categoryId, STATUS_CODE[status]],
        );
      }),
      ours: waiting((i) => storage.create(numberedPet(i))),
      targets: { 64: 5 },
      isWrite: true,
    },
  ];
}

await main(readTask<PostgresTask>(process.argv));

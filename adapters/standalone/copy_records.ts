/** Copies all pets and keys from one database to another, and verifies that they are equal. */

import { createHash } from "node:crypto";
import { INT64_MAX } from "../../core/json.ts";
import { petToJson } from "../../core/pets/pet.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { toPet } from "../storage/stored_row.ts";
import {
  API_KEYS,
  IDEMPOTENCY_KEYS,
  PETS,
  type Table,
  type Transfer,
  type Value,
} from "../storage/transfer.ts";

/** How many rows are read at once, and written in one transaction. */
const PAGE = 1000;

/** The columns of text; all others are integers. */
const TEXT: readonly string[] = ["name", "digest", "key"];

/** Both databases, a function that writes a line for people, and a clock in ms for tests. */
interface Job {
  readonly from: Transfer;
  readonly to: Transfer;
  readonly tell: (line: string) => void;
  readonly now?: () => number;
}

type Survey = Awaited<ReturnType<typeof survey>>;

const MORE =
  "FROM was written to meanwhile, and has more rows now. Stop the servers that use it, and run the same command again: it copies the rest";

const DIFFERENT =
  "TO is not the same as FROM. Stop all servers that use either, and run the same command again. If it refuses, or ends like this again, copy to an empty database";

/**
 * Copies the rows that TO lacks. Refuses if FROM has rows that cannot be copied, or lacks rows that
 * TO has.
 *
 * @returns both tables, whether they are equal in FROM and TO, and lines that say what to do next.
 */
export async function copyAll(job: Job) {
  if (job.from.identity === job.to.identity) {
    throw new Error("Cannot copy: FROM and TO are the same database");
  }
  try {
    // Both tables are compared before anything is written. A key may have been revoked since.
    const pets = await compare(PETS, job);
    const apiKeys = await compare(keysWithout("revoked", "last_used"), job);
    if (pets.count !== 0) {
      job.tell(
        `TO already has ${pets.count} pets of FROM: continuing after the id ${pets.last}`,
      );
    }
    const verifyPets = await copyTable(PETS, job, pets);
    await copyIdempotencyKeys(job);
    // Starts with the first key, because it may have been revoked or used since.
    const verifyKeys = await copyTable(API_KEYS, job, { ...apiKeys, last: 0n });
    const both = {
      pets: await verifyPets(PETS),
      apiKeys: await verifyKeys(keysWithout("last_used")),
    };
    const results = Object.values(both);
    const equal = results.every(({ from, to }) => from.sha256 === to.sha256);
    const advice = [
      ...results.some(({ more }) => more > 0) ? [MORE] : [],
      ...equal ? [] : [DIFFERENT],
    ];
    return { ...both, equal, advice };
  } catch (cause) {
    if (!(cause instanceof StorageError)) throw cause;
    const message =
      `${cause.message}\nRun the same command again: it continues after the last pet that TO has`;
    throw new StorageError(cause.kind, message, { cause });
  }
}

/** The table of keys, without columns that may differ. */
function keysWithout(...names: readonly string[]): Table {
  const columns = API_KEYS.columns.filter((name) => !names.includes(name));
  return { ...API_KEYS, columns };
}

/** Compares all rows of TO with those of FROM. Changes nothing. */
async function compare(table: Table, job: Job): Promise<Survey> {
  await survey(job.from, table);
  const target = await survey(job.to, table);
  const sides = await summarize("Comparing", table, target, job);
  if (sides.from.sha256 === sides.to.sha256) return target;
  throw new Error(
    `Cannot copy: TO has ${table.plural} that FROM lacks. Nothing was changed: ` +
      "TO must be empty, or have only what an earlier copy of FROM wrote",
  );
}

/**
 * Copies the rows after the id `last`, up to the last row that FROM has now.
 *
 * @returns reads both sides again; returns what they have, and how much was copied.
 */
async function copyTable(
  table: Table,
  job: Job,
  { count: earlier, last }: Survey,
) {
  const { from, to } = job;
  const source = await survey(from, table);
  // From now on TO assigns no id that FROM has assigned, even if this ends early and a server uses
  // TO.
  await to.continueAfter(table, source.given);
  const copied = source.count - earlier;
  const progress = startProgress(`Copying ${table.plural}`, copied, job);
  for await (const page of pages(from, table, last, source.last)) {
    await write(to, table, page);
    progress(page.length);
  }
  return async (compared: Table) => {
    const sides = await summarize("Verifying", compared, source, job);
    // FROM may have assigned more meanwhile.
    const now = await survey(from, table);
    await to.continueAfter(table, now.given);
    return { earlier, copied, more: now.count - source.count, ...sides };
  };
}

/** Copies the idempotency keys, except for those of pets that TO lacks. */
async function copyIdempotencyKeys({ from, to }: Job): Promise<void> {
  const { last } = await survey(to, PETS);
  for await (const page of pages(from, IDEMPOTENCY_KEYS, "")) {
    const rows = page.filter(([, petId]) => petId as bigint <= last);
    await write(to, IDEMPOTENCY_KEYS, rows);
  }
}

/**
 * Counts rows, and finds the last id and the last one ever assigned. Refuses ids that would not be
 * copied.
 */
async function survey(database: Transfer, table: Table) {
  const sql = `SELECT count(*), coalesce(min(id), 1), coalesce(max(id), 0),
    (${database.selectLastGiven(table)}) FROM ${table.name}`;
  const [row] = await database.read(table, sql);
  const [count, least, last, given] = row as [bigint, bigint, bigint, bigint];
  if (least >= 1n) {
    return { count: Number(count), last, given: given > last ? given : last };
  }
  throw new Error(
    `Cannot copy ${table.plural} with ids below 1, such as ${least}: delete them, or give them other ids`,
  );
}

/**
 * Counts and hashes the rows of FROM that a survey found, and all rows of TO: as text, one per
 * line, by id.
 */
async function summarize(
  doing: string,
  table: Table,
  { count, last }: Survey,
  job: Job,
) {
  const progress = startProgress(`${doing} ${table.plural}`, 2 * count, job);
  // A pet is hashed as `GET` returns it, which is the same for every database.
  const toText = (row: Row) =>
    table === PETS ? petToJson(toPet(row)) : JSON.stringify(exact(row));
  async function summary(rows: ReturnType<typeof pages>) {
    const hash = createHash("sha256");
    let count = 0;
    for await (const page of rows) {
      for (const row of page) hash.update(`${toText(row)}\n`);
      count += page.length;
      progress(page.length);
    }
    return { count, sha256: hash.digest("hex") };
  }
  const [ofFrom, ofTo] = await Promise.all([
    summary(pages(job.from, table, 0n, last)),
    summary(pages(job.to, table, 0n)),
  ]);
  return { from: ofFrom, to: ofTo };
}

/** Turns integers into text, because JSON numbers may be rounded. */
function exact(row: Row): readonly (string | null)[] {
  return row.map((value) => value === null ? null : `${value}`);
}

type Row = readonly Value[];

/** Reads the rows with a key above `after`, and an id up to `end`. */
async function* pages(
  database: Transfer,
  table: Table,
  after: Value,
  end: bigint = INT64_MAX,
): AsyncGenerator<readonly Row[], undefined> {
  const [key] = table.columns;
  const columns = table.columns.map((column) => database.select(column));
  // With an upper bound PostgreSQL (seen in 15) would sort a table for which it has no statistics.
  const sql = `SELECT ${columns} FROM ${table.name}
    WHERE ${key} > ? ORDER BY ${key} LIMIT ${PAGE}`;
  for (let last = after;;) {
    const rows = await database.read(table, sql, [last]);
    const page = rows.map((row) => decode(table, row))
      .filter(([id]) => typeof id !== "bigint" || id <= end);
    yield page;
    if (page.length < PAGE) return;
    last = page.at(-1)?.[0] ?? last;
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes text that was read as bytes. */
function decode({ plural }: Table, row: readonly unknown[]): Row {
  try {
    return row.map((value) =>
      value instanceof Uint8Array ? UTF8.decode(value) : value as Value
    );
  } catch (cause) {
    const message = `Cannot copy ${plural}: text of the id ${row[0]} is not ` +
      "UTF-8. Correct it, and run the same command again";
    throw new Error(message, { cause });
  }
}

/** Writes rows all at once. An earlier copy may already have written them. */
async function write(
  database: Transfer,
  table: Table,
  rows: readonly Row[],
): Promise<void> {
  const { name, columns, onConflict } = table;
  const values = columns.map((column, index) =>
    `CAST(value->>${index} AS ${TEXT.includes(column) ? "text" : "bigint"})`
  );
  const sql = `INSERT INTO ${name} (${columns}) SELECT ${values}
    FROM ${database.jsonMembers} WHERE true
    ON CONFLICT (${columns[0]}) ${onConflict}`;
  // All rows are one value: an object, because PostgreSQL's json_each() accepts no array (its
  // manual, "JSON Functions").
  await database.write(table, sql, [JSON.stringify({ ...rows.map(exact) })]);
}

/** Returns a function that counts what a stage has done, and writes a line at most every 5 s. */
export function startProgress(
  stage: string,
  total: number,
  { tell, now = () => performance.now() }: Pick<Job, "tell" | "now">,
): (count: number) => void {
  let done = 0;
  let toldAt = now();
  return (count) => {
    done += count;
    if (now() - toldAt < 5000) return;
    toldAt = now();
    // Rows may have been added since the total was counted.
    tell(`${stage}: ${Math.min(done, total)} of ${total}`);
  };
}

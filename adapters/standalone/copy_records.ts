/** Copies all pets and keys from one database to an empty one, and checks that nothing is missing. */

import {
  API_KEYS,
  IDEMPOTENCY_KEYS,
  PETS,
  type Query,
  type Source,
  type Table,
  type Target,
  type Value,
} from "../storage/transfer.ts";

/** How many rows are read and written at once. */
const PAGE = 1000;

/** The columns of text; all others are integers. */
const TEXT: readonly string[] = ["name", "digest", "key"];

/** What to copy, and how. */
export interface Job {
  readonly from: Source;
  readonly to: Target;
  /** If true, what FROM is given after the copy begins is left out. Otherwise that is an error. */
  readonly isSnapshot?: boolean | undefined;
  /** The next id of a pet in TO. Default: the one that FROM would assign. */
  readonly idsFrom?: bigint | undefined;
  /** Shows how far the copy is. */
  readonly show?: (progress: string) => void;
}

type Row = readonly Value[];

/** What a table of FROM has: how many rows, the last id, and the last one ever assigned. */
interface Survey {
  readonly count: number;
  readonly last: bigint;
  readonly given: bigint;
}

/**
 * Copies everything at once: if this rejects, TO is still empty.
 *
 * @returns how many rows were copied, and the last id of a pet, or 0.
 * @throws {Error} if TO is not empty, if FROM has rows that cannot be copied, or if TO lacks
 * something that FROM has at the end.
 */
export async function copyAll(job: Job) {
  const { from, to, isSnapshot } = job;
  const copied = await to.fill(async (write) => {
    const copied = await from.snapshot(async (read) => {
      const copied = new Map<Table, Survey>();
      for (const table of [PETS, API_KEYS, IDEMPOTENCY_KEYS]) {
        copied.set(table, await survey(table, job, read));
      }
      for (const [table, { count }] of copied) {
        await copyTable(table, count, job, read, write);
      }
      if (isSnapshot) await finish(copied, job, read, write);
      return copied;
    });
    // A new snapshot has what servers have added meanwhile.
    if (!isSnapshot) {
      await from.snapshot((read) => finish(copied, job, read, write));
    }
    return copied;
  });
  return {
    pets: copied.get(PETS)?.count ?? 0,
    apiKeys: copied.get(API_KEYS)?.count ?? 0,
    idempotencyKeys: copied.get(IDEMPOTENCY_KEYS)?.count ?? 0,
    lastId: copied.get(PETS)?.last ?? 0n,
  };
}

/** Surveys a table of FROM. Refuses ids that no service could give, or that TO must not give. */
async function survey(
  table: Table,
  { from, idsFrom }: Job,
  read: Query,
): Promise<Survey> {
  const { name, plural, hasIds } = table;
  const ids = hasIds
    ? `coalesce(min(id), 1), coalesce(max(id), 0), (${
      from.selectLastGiven(table)
    })`
    : "1, 0, 0";
  const sql = `SELECT count(*), ${ids} FROM ${name}`;
  const [row = []] = await read(`read ${plural}`, sql);
  const [count, least, last, assigned] = row.map((value) =>
    BigInt(value as number)
  ) as [bigint, bigint, bigint, bigint];
  if (least < 1n) {
    throw new Error(
      `Cannot copy ${plural} with ids below 1, such as ${least}: delete them, or give them other ids`,
    );
  }
  const given = assigned > last ? assigned : last; // rows may have been added by hand
  if (table === PETS && idsFrom !== undefined && idsFrom <= given) {
    throw new Error(
      `Cannot give ids from ${idsFrom}: the last id was ${given}, and ids are never reused`,
    );
  }
  return { count: Number(count), last, given };
}

async function copyTable(
  table: Table,
  total: number,
  { from, to, show }: Job,
  read: Query,
  write: Query,
): Promise<void> {
  const { name, plural, columns } = table;
  const sql = `INSERT INTO ${name} (${columns}) SELECT ${
    columns.map(valueOf)
  } FROM ${to.jsonMembers}`;
  let done = 0;
  for await (const page of pages(table, columns, from, read)) {
    await write(`copy ${plural}`, sql, [toJson(page)]);
    done += page.length;
    show?.(`Copying ${plural}: ${done} of ${total}`);
  }
}

/**
 * Checks that TO has kept every row, and has each that FROM has now. Then lets it continue after
 * all ids that FROM has given.
 */
async function finish(
  copied: ReadonlyMap<Table, Survey>,
  job: Job,
  read: Query,
  write: Query,
): Promise<void> {
  const { to, idsFrom = 1n } = job;
  for (const [table, { count }] of copied) {
    const { name, plural, hasIds } = table;
    const sql = `SELECT count(*) FROM ${name}`;
    const [[kept] = []] = await write(`count ${plural}`, sql);
    if (Number(kept) !== count) {
      throw new Error(
        `Cannot copy: TO has kept ${kept} of ${count} ${plural}. Look for triggers there`,
      );
    }
    await assertNoMore(table, count, job, read, write);
    if (!hasIds) continue;
    const { given } = await survey(table, job, read);
    const last = table === PETS && idsFrom > given ? idsFrom - 1n : given;
    await to.continueAfter(write, table, last);
  }
}

/** Checks that TO has each row that FROM has now. */
async function assertNoMore(
  table: Table,
  total: number,
  { from, to, isSnapshot, show }: Job,
  read: Query,
  write: Query,
): Promise<void> {
  const { name, plural, columns, changing = [] } = table;
  const compared = [columns[0] ?? "", ...changing];
  const same = compared.map((column, index) =>
    // With "=" for the key, because PostgreSQL finds no index for the other.
    `${name}.${column} ${index === 0 ? "=" : "IS NOT DISTINCT FROM"} v${index}`
  );
  const sql = `SELECT count(*) FROM (SELECT ${
    compared.map((column, index) => `${valueOf(column, index)} AS v${index}`)
  } FROM ${to.jsonMembers}) AS page JOIN ${name} ON ${same.join(" AND ")}`;
  let done = 0;
  for await (const page of pages(table, compared, from, read)) {
    const [[found] = []] = await write(`find ${plural}`, sql, [toJson(page)]);
    if (Number(found) !== page.length) {
      throw new Error(
        `Cannot copy: FROM has ${plural} that TO lacks, between ${
          page[0]?.[0]
        } and ${page.at(-1)?.[0]}. ${isSnapshot ? LOST : MEANWHILE}`,
      );
    }
    done += page.length;
    show?.(`Comparing ${plural}: ${done} of ${total}`);
  }
}

const LOST = "Look for triggers on TO";
const MEANWHILE =
  "FROM was written to meanwhile: stop its servers and run the same command again, or use --snapshot";

/** Reads columns of all rows, in order of the first. */
async function* pages(
  { name, plural, hasIds }: Table,
  columns: readonly string[],
  from: Source,
  read: Query,
): AsyncGenerator<readonly Row[], undefined> {
  const [key] = columns;
  const sql = `SELECT ${columns.map((column) => from.select(column))}
    FROM ${name} WHERE ${key} > ? ORDER BY ${key} LIMIT ${PAGE}`;
  for (let last: Value = hasIds ? 0n : "";;) {
    const rows = await read(`read ${plural}`, sql, [last]);
    const page = rows.map((row) => decode(plural, row));
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    last = page.at(-1)?.[0] ?? last;
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes text that was read as bytes. */
function decode(plural: string, row: readonly unknown[]): Row {
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

/** SQL that reads a column from one of the rows of {@linkcode toJson}. */
function valueOf(column: string, index: number): string {
  const type = TEXT.includes(column) ? "text" : "bigint";
  return `CAST(value->>${index} AS ${type})`;
}

/**
 * Makes one value of a page: an object, because PostgreSQL's json_each() accepts no array (its
 * manual, "JSON Functions"), and with integers as text, because JSON numbers may be rounded.
 */
function toJson(page: readonly Row[]): string {
  const exact = page.map((row) =>
    row.map((value) => value === null ? null : `${value}`)
  );
  return JSON.stringify({ ...exact });
}

/**
 * The command `copy`: copies all pets and issued API keys from one database to another, and proves that
 * they are the same.
 */

import { createHash } from "node:crypto";
import process from "node:process";
import { setImmediate as nextTurn } from "node:timers/promises";
import { INT64_MAX } from "../../core/pets/int64.ts";
import { type Pet, petToJson } from "../../core/pets/pet.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import type { StoredApiKey } from "../database/stored_row.ts";
import type { IfMissing, Records, Transfer } from "../database/transfer.ts";
import { parseArguments, UsageError } from "./command_line.ts";
import {
  ConfigError,
  type LastingDatabase,
  readLastingDatabase,
} from "./config.ts";
import { giveBackPermissions, openPostgres } from "./open_storage.ts";
import { Progress } from "./progress.ts";

const HELP = `copy: copies all pets and API keys from one database to another

  copy FROM TO    each sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE

  --json          prints JSON

Ids and keys stay what they are. TO must be empty, or have what an earlier copy of FROM wrote: the
copy goes on after that. In the end both sides are read again and compared. Stop the servers first:
what they add meanwhile is copied by running the command again. PGPASSWORD keeps a password out of
the arguments, which others on this machine may see.
`;

const RUN_AGAIN =
  "Run the same command again: it goes on after the last pet that TO has";

const DIFFERENT =
  "TO is not the same as FROM. Stop all servers on both, and run the same command again; " +
  "if it refuses then, or ends like this, copy to an empty database";

/** How many records are read at once, and written in one transaction. */
const PAGE = 1000;

type Identified = { readonly id: bigint };

/** The same records in two databases. */
interface Sides<T extends Identified> {
  readonly from: Records<T>;
  readonly to: Records<T>;
}

interface Kind<T> {
  readonly plural: string;
  /** A record as text: the same for every database. */
  readonly toText: (record: T) => string;
  /** The record as an earlier copy may have found it. */
  readonly asCopiedEarlier: (record: T) => T;
}

/** Pets never change. */
const PETS: Kind<Pet> = {
  plural: "pets",
  toText: petToJson,
  asCopiedEarlier: (pet) => pet,
};

/** The only change to a key is that it is revoked. */
const API_KEYS: Kind<StoredApiKey> = {
  plural: "API keys",
  toText: ({ id, name, digest, created, revoked }) =>
    `{"id":${id},"name":${
      JSON.stringify(name)
    },"digest":"${digest}","created":${created},"revoked":${revoked}}`,
  asCopiedEarlier: (key) => ({ ...key, revoked: null }),
};

/** What TO has of FROM: its first records, up to the id `last`, and nothing else. */
interface CopiedEarlier<T> {
  readonly count: number;
  readonly last: bigint;
  /** Records that have changed in FROM since, as they are now. */
  readonly changed: readonly T[];
}

interface Summary {
  readonly count: number;
  /** Of their texts, one a line, by id: 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

interface Copied {
  /** How many TO had before. */
  readonly earlier: number;
  readonly copied: number;
  /** What FROM had when the copy began. */
  readonly from: Summary;
  readonly to: Summary;
  /** How many were added to FROM since. */
  readonly more: number;
}

interface Result {
  readonly pets: Copied;
  readonly apiKeys: Copied;
}

/** Runs the command with the arguments that follow `copy`. */
export async function runCopy(
  args: readonly string[],
  onOpen: typeof giveBackPermissions = giveBackPermissions,
): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    json: { type: "boolean" },
  });
  const [from, to, ...more] = positionals;
  if (values.help || from === undefined) {
    return void process.stdout.write(HELP);
  }
  if (to === undefined || more.length > 0) {
    throw new UsageError("copy takes two addresses: copy FROM TO");
  }
  const databases = [
    readLastingDatabase("FROM", from),
    readLastingDatabase("TO", to),
  ] as const;
  const progress = new Progress(process.stderr);
  // The exit code of a signal is 128 and its number, as in a shell.
  const signals = [["SIGINT", 130], ["SIGTERM", 143]] as const;
  const listeners = signals.map(([signal, code]) => {
    const stop = () => {
      progress.note(`Stopped. ${RUN_AGAIN}`);
      process.exit(code);
    };
    process.on(signal, stop);
    return { signal, stop };
  });
  try {
    const result = await withBoth(databases, async (source, target) => {
      await onOpen(...databases);
      return await copyAll(source, target, progress);
    });
    process.stdout.write(values.json ? asJson(result) : asText(result));
    if (isEqual(result)) return;
    process.stderr.write(`${DIFFERENT}\n`);
    process.exitCode = 1;
  } finally {
    progress.end();
    for (const { signal, stop } of listeners) process.off(signal, stop);
  }
}

async function withBoth<T>(
  databases: readonly [LastingDatabase, LastingDatabase],
  work: (from: Transfer, to: Transfer) => Promise<T>,
): Promise<T> {
  const from = await open("FROM", databases[0], "refuse");
  try {
    const to = await open("TO", databases[1], "create");
    try {
      return await work(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Copies what TO does not have, after comparing what it has. */
export async function copyAll(
  from: Transfer,
  to: Transfer,
  progress: Progress,
): Promise<Result> {
  if (from.identity === to.identity) {
    throw new ConfigError("FROM and TO are the same database");
  }
  const pets = { from: from.pets, to: to.pets };
  const apiKeys = { from: from.apiKeys, to: to.apiKeys };
  try {
    // Both are compared before anything is written.
    const petsInTo = await compareRecords(PETS, pets, progress);
    await compareRecords(API_KEYS, apiKeys, progress);
    if (petsInTo.count > 0) {
      progress.note(
        `TO has ${petsInTo.count} pets of FROM already: going on after the id ${petsInTo.last}`,
      );
    }
    const copied = await copyRecords(PETS, pets, petsInTo, progress);
    await copyIdempotencyKeys(from, to);
    // Pets take their time; meanwhile keys may have changed.
    const keysInTo = await compareRecords(API_KEYS, apiKeys, progress);
    for (const key of keysInTo.changed) await to.revokeApiKey(key);
    return {
      pets: copied,
      apiKeys: await copyRecords(API_KEYS, apiKeys, keysInTo, progress),
    };
  } catch (cause) {
    if (!(cause instanceof StorageError)) throw cause;
    const message = `${cause.message}\n${RUN_AGAIN}`;
    throw new StorageError(cause.kind, message, { cause });
  }
}

/** Copies which pets were added with which idempotency keys, but for pets that TO does not have. */
async function copyIdempotencyKeys(
  from: Transfer,
  to: Transfer,
): Promise<void> {
  const { stored } = await to.pets.lastIds();
  let after = "";
  for (;;) {
    const rows = await from.idempotencyKeys.read(after, 1000);
    const [last] = rows.at(-1) ?? [];
    if (last === undefined) return;
    await to.idempotencyKeys.write(rows.filter(([, id]) => id <= stored));
    after = last;
  }
}

/**
 * Compares every record of TO with the one at the same place in FROM. Changes nothing.
 *
 * @throws {ConfigError} if TO has a record that FROM does not have at that place.
 */
async function compareRecords<T extends Identified>(
  { plural, toText, asCopiedEarlier }: Kind<T>,
  { from, to }: Sides<T>,
  progress: Progress,
): Promise<CopiedEarlier<T>> {
  const { stored: last } = await to.lastIds();
  if (last === 0n) return { count: 0, last, changed: [] };
  const total = await to.count(0n);
  progress.begin({ doing: "Comparing", what: plural, total });
  const changed: T[] = [];
  const originals = pages(from, 0n, last);
  let count = 0;
  for await (const copies of pages(to, 0n, last)) {
    const { value: page = [] } = await originals.next();
    for (const [index, copy] of copies.entries()) {
      const original = page[index];
      const text = toText(copy);
      const expected = original && toText(original);
      if (text === expected) continue;
      if (!original || text !== toText(asCopiedEarlier(original))) {
        throw new ConfigError(
          `TO has ${plural} that FROM does not have: they differ from the id ${copy.id} on. ` +
            "Nothing was changed: TO must be empty, or have only what an earlier copy of FROM wrote",
        );
      }
      changed.push(original);
    }
    count += copies.length;
    progress.add(copies.length);
  }
  progress.end();
  return { count, last, changed };
}

/**
 * Copies the records after those that TO has, up to the last that FROM has now, and then summarizes
 * both sides.
 *
 * @throws {ConfigError} if somebody else adds records to TO meanwhile.
 */
async function copyRecords<T extends Identified>(
  kind: Kind<T>,
  { from, to }: Sides<T>,
  { last, count }: CopiedEarlier<T>,
  progress: Progress,
): Promise<Copied> {
  const { stored: end, given } = await from.lastIds();
  // From now on TO gives no id that FROM has given, even if this ends early and a server uses TO.
  await to.continueAfter(given);

  const total = count + await from.count(last);
  const what = kind.plural;
  progress.begin({ doing: "Copying", what, total, before: count });
  let after = last;
  let copied = 0;
  for await (const page of pages(from, last, end)) {
    if (!await to.restore(page, after)) {
      throw new ConfigError(
        `TO is being written to: it has ${kind.plural} now that this copy did not write. ` +
          "Stop the servers and other copies that use it, and run the same command again",
      );
    }
    after = lastId(page);
    copied += page.length;
    progress.add(page.length);
  }

  progress.begin({ doing: "Verifying", what, total: 2 * (count + copied) });
  const [ofFrom, ofTo] = await Promise.all([
    summarize(kind, pages(from, 0n, end), progress),
    summarize(kind, pages(to, 0n, INT64_MAX), progress),
  ]);
  progress.end();

  // Meanwhile FROM may have given more.
  await to.continueAfter((await from.lastIds()).given);
  const more = await from.count(end);
  return { earlier: count, copied, from: ofFrom, to: ofTo, more };
}

async function summarize<T>(
  { toText }: Kind<T>,
  pages: AsyncIterable<readonly T[]>,
  progress: Progress,
): Promise<Summary> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const page of pages) {
    hash.update(page.map((record) => `${toText(record)}\n`).join(""));
    count += page.length;
    progress.add(page.length);
  }
  return { count, sha256: hash.digest("hex") };
}

/** The records with an id above `after` and up to `end`, by pages. */
async function* pages<T extends Identified>(
  records: Records<T>,
  after: bigint,
  end: bigint,
): AsyncGenerator<readonly T[], undefined> {
  let reading = records.read(after, PAGE);
  for (;;) {
    const read = await reading;
    // Two SQLite files never wait for anything: without this a signal is not heard before the end.
    await nextTurn();
    const page = read.filter(({ id }) => id <= end);
    if (page.length === 0) return;
    if (page.length < PAGE) return yield page;
    // The next page is read while this one is used. A caller that stops early never asks for it.
    reading = records.read(lastId(page), PAGE);
    reading.catch(() => {});
    yield page;
  }
}

function lastId(page: readonly Identified[]): bigint {
  return page.at(-1)?.id ?? 0n;
}

async function open(
  name: string,
  database: LastingDatabase,
  ifMissing: IfMissing,
): Promise<Transfer> {
  if (database.kind === "sqlite") {
    const { sqliteTransfer } = await import("../sqlite/transfer.ts");
    return await sqliteTransfer(database.path, ifMissing);
  }
  const { postgresTransfer } = await import("../postgres/transfer.ts");
  const connect = (url: string) => postgresTransfer(url, ifMissing);
  return await openPostgres(name, database.url, connect);
}

function isEqual(result: Result): boolean {
  return [result.pets, result.apiKeys].every(({ from, to }) =>
    from.count === to.count && from.sha256 === to.sha256
  );
}

function asText({ pets, apiKeys }: Result): string {
  const { copied, earlier } = pets;
  const there = earlier === 0 ? "" : ` (after ${earlier} that were there)`;
  const more = pets.more + apiKeys.more === 0
    ? ""
    : `\nFROM was written to meanwhile: it has more now (pets: ${pets.more}, API keys: ${apiKeys.more}).\n` +
      "Stop the servers that use it, and run the same command again: it copies those.\n";
  return `Copied pets: ${copied}${there}, API keys: ${apiKeys.copied}

${asTable("Pets    ", pets)}${asTable("API keys", apiKeys)}${more}`;
}

function asTable(title: string, { from, to }: Copied): string {
  const width = Math.max(from.count, to.count).toString().length;
  const cells = ({ count, sha256 }: Summary) =>
    `${String(count).padStart(width)}  SHA-256 ${sha256}\n`;
  const indent = " ".repeat(title.length);
  return `${title}  FROM  ${cells(from)}${indent}  TO    ${cells(to)}`;
}

// The names in JSON are stable.
function asJson(result: Result): string {
  const equal = isEqual(result);
  const json = ({ earlier: there, ...rest }: Copied) => ({ there, ...rest });
  const [animals, apiKeys] = [json(result.pets), json(result.apiKeys)];
  return `${JSON.stringify({ animals, apiKeys, equal })}\n`;
}

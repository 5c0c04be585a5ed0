/** Copies all records of one database to another, and proves that they are the same. */

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { INT64_MAX } from "../../core/json.ts";
import { type Pet, petToJson } from "../../core/pets/pet.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import type { StoredApiKey } from "../database/stored_row.ts";
import type { Records, Transfer } from "../database/transfer.ts";
import { ConfigError } from "./config.ts";
import type { Progress } from "./progress.ts";

export const RUN_AGAIN =
  "Run the same command again: it goes on after the last pet that TO has";

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

export interface Copied {
  /** How many TO had before. */
  readonly earlier: number;
  readonly copied: number;
  /** What FROM had when the copy began. */
  readonly from: Summary;
  readonly to: Summary;
  /** How many were added to FROM since. */
  readonly more: number;
}

export interface Result {
  readonly pets: Copied;
  readonly apiKeys: Copied;
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

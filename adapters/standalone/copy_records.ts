/**
 * Copying all records of one kind from one database to another, and proving that they are the same.
 * Nothing here depends on which databases they are, or on how many records there are.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { INT64_MAX } from "../../core/pets/int64.ts";
import { type Pet, petToJson } from "../../core/pets/pet.ts";
import type { StoredApiKey } from "../database/stored_row.ts";
import type { Records } from "../database/transfer.ts";
import { ConfigError } from "./config.ts";
import type { Progress } from "./progress.ts";

/** How many records are read, and written in one transaction. */
const PAGE = 1000;

/** The same records in two databases. */
export interface Sides<T extends { readonly id: bigint }> {
  readonly from: Records<T>;
  readonly to: Records<T>;
}

/** A kind of record. */
export interface Kind<T> {
  readonly many: string;
  /** A record as text, the same whichever database it comes from. */
  readonly toText: (record: T) => string;
  /** The record as it may have been when it was copied before; absent where records never change. */
  readonly before?: (record: T) => T;
}

/** Animals, as the service shows them. */
export const animals: Kind<Pet> = {
  many: "animals",
  toText: petToJson,
};

/** API keys. All that happens to one is that it is revoked. */
export const apiKeys: Kind<StoredApiKey> = {
  many: "API keys",
  toText: ({ id, name, digest, created, revoked }) =>
    `{"id":${id},"name":${
      JSON.stringify(name)
    },"digest":"${digest}","created":${created},"revoked":${revoked}}`,
  before: (key) => ({ ...key, revoked: null }),
};

/** What TO has before anything is written to it: the first records of FROM, and no other ones. */
export interface Beginning<T> {
  readonly count: number;
  /** The id of the last one; 0 where there is none. */
  readonly last: bigint;
  /** Records that have changed in FROM since they were copied, as they are there now. */
  readonly changed: readonly T[];
}

/** All records of one side: how many, and the SHA-256 of their texts, one a line, by id. */
export interface Summary {
  readonly count: number;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

/** What came of a copy. */
export interface Copied {
  /** How many were there already. */
  readonly there: number;
  /** How many were copied now. */
  readonly copied: number;
  /** What FROM had when the copy began. */
  readonly from: Summary;
  readonly to: Summary;
  /** How many FROM was given since. */
  readonly more: number;
}

/**
 * Compares all that TO has with what FROM has up to there, record by record. Changes nothing.
 *
 * @throws {ConfigError} where TO has a record that FROM has not, or has another one in its place.
 */
export async function readBeginning<T extends { readonly id: bigint }>(
  { many, toText, before = (record) => record }: Kind<T>,
  { from, to }: Sides<T>,
  progress: Progress,
): Promise<Beginning<T>> {
  const { stored: last } = await to.lastIds();
  if (last === 0n) return { count: 0, last, changed: [] };
  progress.begin({
    doing: "Comparing",
    what: many,
    total: await to.count(0n),
  });
  const changed: T[] = [];
  const ours = pages(from, 0n, last);
  let count = 0;
  for await (const theirs of pages(to, 0n, last)) {
    const { value: page = [] } = await ours.next();
    for (const [index, record] of theirs.entries()) {
      const original = page[index];
      const text = toText(record);
      if (original !== undefined && text === toText(original)) continue;
      if (original !== undefined && text === toText(before(original))) {
        changed.push(original);
        continue;
      }
      throw new ConfigError(
        `TO has ${many} that FROM does not have: they differ from the id ${record.id} on. ` +
          "Nothing was changed: TO is to be empty, or to have only what an earlier copy of FROM wrote",
      );
    }
    count += theirs.length;
    progress.add(theirs.length);
  }
  progress.end();
  return { count, last, changed };
}

/**
 * Copies the records after those that TO has, up to the last that FROM has now, and compares both
 * sides as they are in the end.
 *
 * @throws {ConfigError} where somebody else adds records to TO meanwhile.
 */
export async function copyRecords<T extends { readonly id: bigint }>(
  kind: Kind<T>,
  { from, to }: Sides<T>,
  { last, count }: Pick<Beginning<T>, "last" | "count">,
  progress: Progress,
): Promise<Copied> {
  const { stored: end, given } = await from.lastIds();
  // From here on TO gives no id that FROM gave, even if this ends early and a server uses TO.
  await to.continueAfter(given);

  const total = count + await from.count(last);
  const what = kind.many;
  progress.begin({ doing: "Copying", what, total, before: count });
  let after = last;
  let copied = 0;
  for await (const page of pages(from, last, end)) {
    if (!await to.restore(page, after)) {
      throw new ConfigError(
        `TO is being written to: it has ${kind.many} now that this copy did not write. ` +
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

  // FROM may have given more meanwhile.
  await to.continueAfter((await from.lastIds()).given);
  const more = await from.count(end);
  return { there: count, copied, from: ofFrom, to: ofTo, more };
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
async function* pages<T extends { readonly id: bigint }>(
  records: Records<T>,
  after: bigint,
  end: bigint,
): AsyncGenerator<readonly T[], undefined> {
  let reading = records.read(after, PAGE);
  for (;;) {
    const read = await reading;
    // Between two SQLite files nothing else waits, and a signal would not be heard before the end.
    await nextTurn();
    const page = read.filter(({ id }) => id <= end);
    if (page.length === 0) return;
    if (page.length < PAGE) {
      yield page;
      return;
    }
    // The next page is read while this one is used. Who stops using them never asks for it.
    reading = records.read(lastId(page), PAGE);
    reading.catch(() => {});
    yield page;
  }
}

function lastId(page: readonly { readonly id: bigint }[]): bigint {
  return page.at(-1)?.id ?? 0n;
}

/** Pages of pets. Paging is by key (`after`): a page costs the same at any depth. */

import { INT64_MAX, INT64_MIN, isInt64, parseInt64 } from "../int64.ts";
import { type Pet, PET_STATUSES, type PetId, type PetStatus } from "./pet.ts";
import { type Problem, Problems, quote } from "./problems.ts";

/** The page that a caller wants. */
export interface PageRequest {
  /** Return at most this many: 1 or more. */
  readonly limit: number;
  /** Return only pets with this status. */
  readonly status?: PetStatus;
  /** Return only pets whose id is greater: any int64. */
  readonly after?: bigint;
}

/** A page of pets. */
export interface Page {
  /** The pets that match, ascending by id. */
  readonly pets: readonly Pet[];
  /** The id of the last of them if more pets match. */
  readonly last?: PetId;
}

/** The least `limit`. */
export const MIN_LIMIT = 1;
/** The greatest `limit`. */
export const MAX_LIMIT = 100;
/** The `limit` if none is sent. */
export const DEFAULT_LIMIT = 20;

const LIMIT_RULE = `one integer from ${MIN_LIMIT} to ${MAX_LIMIT}`;
const STATUS_RULE = `one of ${PET_STATUSES.join(", ")}`;
const AFTER_RULE = `one integer from ${INT64_MIN} to ${INT64_MAX}`;

/**
 * Reads which page a caller wants: at most `limit` pets (1 to 100, default 20) of one `status`
 * (default: all) with an id above `after` (any int64). Other parameters are ignored.
 *
 * @param query of a URL, without its `?` (WHATWG URL §5.1).
 * @returns the page, or every parameter that is out of bounds, repeated, or not in canonical decimal
 * form (`05`, `+5`, `1e1`, `10.0`, empty).
 */
export function parsePage(query: string): PageRequest | Problems {
  // The constructor removes one leading "?": without this one, "??limit=5" would set the limit.
  const parameters = new URLSearchParams(`?${query}`);
  const problems: Problem[] = [];

  function read<T>(
    name: string,
    parse: (text: string) => T | undefined,
    rule: string,
  ): T | undefined {
    const values = parameters.getAll(name);
    const text = values[0];
    if (text === undefined) return undefined;
    const value = values.length > 1 ? undefined : parse(text);
    if (value === undefined) {
      const sent = values.length > 1 ? `${values.length} values` : quote(text);
      problems.push({ name, reason: `must be ${rule}, not ${sent}` });
    }
    return value;
  }

  const limit = read("limit", parseLimit, LIMIT_RULE);
  const status = read("status", parseStatus, STATUS_RULE);
  const after = read("after", parseInt64, AFTER_RULE);
  if (problems.length > 0) return new Problems(problems);
  return {
    limit: limit ?? DEFAULT_LIMIT,
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { after }),
  };
}

/**
 * The number of pets to read for a page: one extra shows whether there is a next page.
 *
 * @example Read a page
 * ```ts
 * import { rowsToRead } from "@petstore/service/storage";
 * import assert from "node:assert/strict";
 *
 * assert.equal(rowsToRead(20), 21); // LIMIT 21
 * ```
 *
 * @param limit the size of the page.
 * @returns the number to read, for {@linkcode toPage}.
 */
export function rowsToRead(limit: number): number {
  return limit + 1;
}

/**
 * Makes a page of at most `limit` pets from the first `limit + 1` that match.
 *
 * @example Make a page
 * ```ts
 * import { type Pet, type Page, toPage } from "@petstore/service/storage";
 *
 * const pageOf = (found: Pet[], limit: number): Page => toPage(found, limit);
 * ```
 *
 * @param found the matching pets, ascending by id.
 * @param limit the size of the page.
 * @returns the page, whose `last` is set if more pets match.
 */
export function toPage(found: readonly Pet[], limit: number): Page {
  if (found.length <= limit) return { pets: found };
  const pets = found.slice(0, limit);
  const last = pets.at(-1)?.id;
  return last === undefined ? { pets } : { pets, last };
}

/**
 * The query of the page that follows the pet `last`. Its id may be below 1 if it was added by hand.
 *
 * @throws {RangeError} if `last` is not an int64: a storage broke its promise.
 */
export function queryAfter(
  { limit, status }: PageRequest,
  last: PetId,
): string {
  if (!isInt64(last)) {
    throw new RangeError(
      `Cannot list pets: the last id of a page must be an int64, not ${last}`,
    );
  }
  const only = status === undefined ? "" : `&status=${status}`;
  return `limit=${limit}${only}&after=${last}`;
}

function parseLimit(text: string): number | undefined {
  const limit = Number(parseInt64(text)); // NaN if it is not an int64
  return limit >= MIN_LIMIT && limit <= MAX_LIMIT ? limit : undefined;
}

function parseStatus(text: string): PetStatus | undefined {
  return PET_STATUSES.find((status) => status === text);
}

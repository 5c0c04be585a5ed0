/**
 * Whether a call is tried again, and when.
 *
 * A read is tried again after anything that may pass. A create is tried again only where the service
 * itself says that nothing was added; everything else could add the animal twice. A connection that
 * was refused would be harmless too, but `fetch` does not tell it from one that broke too late.
 *
 * @module
 */

import type { PetStoreError } from "./error.ts";

/** The longest that one pause may be asked to be, in ms. Whoever asks for more is not asked again. */
const MAX_PAUSE = 30_000;

/** What the first pause is chosen below, in ms; each later one below twice as much. */
const FIRST_BACKOFF = 500;

/** RFC 9110 §15, RFC 6585 §4: too slow, too many, and the ways in which a service is not there. */
const PASSING: ReadonlySet<number | undefined> = new Set([
  408,
  429,
  502,
  503,
  504,
]);

/** Whether a call that failed this way can be tried again, and may succeed. */
export function isPassing(
  error: PetStoreError,
  { isCreate }: { readonly isCreate: boolean },
): boolean {
  if (isCreate) return error.status === 503 && !error.uncertain;
  return error.code === "network_error" || error.code === "timeout" ||
    PASSING.has(error.status);
}

/**
 * How long to wait before the next attempt, in ms: what the response asks for, and beyond that any
 * time up to a bound that doubles, so that many clients do not come back together.
 *
 * @param attempt how many attempts have failed before this one.
 * @returns `undefined` where the response asks for more than 30 s: that is for the caller to decide.
 */
export function retryDelay(
  { retryAfter = 0 }: PetStoreError,
  { attempt, random }: {
    readonly attempt: number;
    readonly random: () => number;
  },
): number | undefined {
  if (retryAfter > MAX_PAUSE) return undefined;
  return retryAfter +
    random() * Math.min(MAX_PAUSE, FIRST_BACKOFF * 2 ** attempt);
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): a number of seconds, or a date in any of the three forms
 * of §5.6.7.
 *
 * @returns the time to wait in ms, 0 where it is over; `undefined` where there is none or it is
 * malformed.
 */
export function parseRetryAfter(
  field: string | null,
  now: number,
): number | undefined {
  if (field === null) return undefined;
  if (/^[0-9]+$/.test(field)) return Number(field) * 1000;
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(field)) return undefined;
  // The oldest form, asctime's, names no zone, and means GMT.
  const date = Date.parse(field.endsWith(" GMT") ? field : `${field} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

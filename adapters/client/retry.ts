/** Whether a call is tried again, and when. */

import type { Call } from "./calls.ts";
import type { PetStoreError } from "./error.ts";
import type { Clock } from "./options.ts";

/** Longest `Retry-After` honoured, and longest pause beyond it, in ms. */
const MAX_PAUSE = 30_000;

/** Too slow, too many, out of reach (RFC 9110 §15, RFC 6585 §4). */
const PASSING = [408, 429, 502, 503, 504];

/**
 * Whether a call that failed this way can be tried again, and may succeed.
 *
 * A read, or a create with an `Idempotency-Key`, is tried again after anything that may pass. Any other
 * create could add the pet twice, so the service itself must say that nothing was changed. (A refused
 * connection would be harmless too, but `fetch` does not tell it from one that broke later.)
 */
export function isPassing(
  { code, status = 0, uncertain }: PetStoreError,
  { body, idempotencyKey }: Pick<Call<object>, "body" | "idempotencyKey">,
): boolean {
  const isRepeatable = body === undefined || idempotencyKey !== undefined;
  if (!isRepeatable) return status === 503 && !uncertain;
  return code === "network_error" || code === "timeout" ||
    PASSING.includes(status);
}

/**
 * How long to wait before the next attempt, in ms: as long as the response asks for, and beyond that a
 * random time up to a bound that doubles, so that many clients do not come back together.
 *
 * @returns `undefined` if the response asks for more than 30 s: that is for the caller to decide.
 */
export function retryDelay(
  { retryAfter = 0 }: PetStoreError,
  attempt: number,
  random: () => number,
): number | undefined {
  if (retryAfter > MAX_PAUSE) return undefined;
  return retryAfter + random() * Math.min(MAX_PAUSE, 500 * 2 ** attempt);
}

/** Waits. Rejects with the signal's reason if it aborts; leaves no timer and no listener. */
export async function pause(
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const cancel = clock.setTimer(ms, () => resolve(undefined));
  signal?.addEventListener("abort", resolve);
  await promise;
  cancel();
  signal?.removeEventListener("abort", resolve);
  signal?.throwIfAborted();
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): a number of seconds, or a date in any form of §5.6.7.
 *
 * @returns the time to wait in ms, 0 if it is over; `undefined` if the field is absent or malformed.
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

/** Decides whether and when a call is retried. */

import type { PetStoreError } from "./error.ts";
import type { ClientCall } from "./calls.ts";
import type { Settings } from "./options.ts";

/** The longest `Retry-After` that is obeyed, and the longest pause added to it, in ms. */
const MAX_PAUSE = 30_000;

/** Statuses of transient failures (RFC 9110 §15, RFC 6585 §4). */
const TRANSIENT: readonly unknown[] = [408, 429, 502, 503, 504];

/**
 * Chooses the pause before the next attempt, in ms: what the response asks for, plus a random time
 * below a bound that doubles, so that many clients do not return at the same time.
 *
 * @param attempt the number of attempts before the one that failed.
 * @returns the pause; `undefined` if the call must not be retried, or not within 30 s.
 */
export function retryDelay(
  { code, status, uncertain, retryAfter = 0 }: PetStoreError,
  { body, idempotencyKey }: ClientCall<object>,
  attempt: number,
  { retries, random }: Settings,
): number | undefined {
  if (attempt >= retries) return undefined;
  const isRepeatable = body === undefined || idempotencyKey !== undefined;
  // Any other create could add the pet twice, unless the service itself says that nothing changed.
  const isTransient = isRepeatable
    ? code === "network_error" || code === "timeout" ||
      TRANSIENT.includes(status)
    : status === 503 && !uncertain;
  if (!isTransient || retryAfter > MAX_PAUSE) return undefined;
  return retryAfter + random() * Math.min(MAX_PAUSE, 500 * 2 ** attempt);
}

/** Waits `ms`, or until the signal aborts. Leaves no timer and no listener. */
export async function pause(
  ms: number,
  { setTimer }: Settings,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const cancel = setTimer(ms, () => resolve(undefined));
  signal?.addEventListener("abort", resolve);
  await promise;
  cancel();
  signal?.removeEventListener("abort", resolve);
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): a number of seconds, or a date that ends in GMT. A date
 * is compared with the `Date` of the response, because the clocks may differ; without it, with
 * `now`.
 *
 * @returns the time to wait in ms, 0 if it has passed; `undefined` if the field is absent or
 * malformed.
 */
export function parseRetryAfter(
  headers: Headers,
  now: number,
): number | undefined {
  const field = headers.get("retry-after") ?? "";
  if (/^[0-9]+$/.test(field)) return Number(field) * 1000;
  const date = parseDate(field);
  const sent = parseDate(headers.get("date") ?? "") ?? now;
  return date === undefined ? undefined : Math.max(0, date - sent);
}

function parseDate(field: string): number | undefined {
  const date = field.endsWith(" GMT") ? Date.parse(field) : NaN;
  return Number.isNaN(date) ? undefined : date;
}

/** The answers to callers whose requests are counted. */

import { type Answer, type Fields, withFields } from "./message.ts";
import { tooManyRequests } from "./refusal.ts";

/** The request is within the limit: its answer gets the header fields, such as `RateLimit`. */
export interface WithinLimit {
  /** Tells the two apart. */
  readonly allowed: true;
  /** Header fields by lower-case name. */
  readonly headers: Fields;
}

/** The request is one too many: it is answered 429 with the header fields, such as `Retry-After`. */
export interface BeyondLimit {
  /** Tells the two apart. */
  readonly allowed: false;
  /** Header fields by lower-case name. */
  readonly headers: Fields;
}

/** The 429, with more header fields. */
export function tooMany(headers: Fields): Answer {
  return withFields(tooManyRequests, headers);
}

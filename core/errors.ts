/**
 * Refusals, with the codes and the Error body of the contract. A stage returns one instead of
 * throwing.
 */

import {
  type Answer,
  type ErrorCode,
  type Fields,
  JSON_HEADERS,
} from "./answer.ts";

/** The body of every error response. */
export interface ErrorBody {
  /** Machine-readable. */
  readonly code: ErrorCode;
  /** For people; never carries stack traces, SQL, file paths or keys. */
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
}

/** The HTTP status code (RFC 9110 §15) that goes with each code. */
export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
};

/**
 * An expected refusal. It is a value and an {@linkcode Answer}, not an exception: taking a stack
 * costs as much as the rest of a request. The constant ones are made once.
 */
export class Refusal implements Answer {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly headers: Fields;
  readonly body: string;

  constructor(code: ErrorCode, message: string, headers: Fields = {}) {
    const status = ERROR_STATUS[code];
    this.code = code;
    this.message = message;
    this.status = status;
    // Frozen, because many responses share it.
    this.headers = Object.freeze({ ...JSON_HEADERS, ...headers });
    this.body = JSON.stringify({ code, message, status } satisfies ErrorBody);
  }
}

/** The answer to a request that failed in a way nobody expected. */
export const internalError: Refusal = new Refusal(
  "internal_error",
  "Something went wrong on our side",
);

/**
 * The answer if the storage did nothing. The request can be sent again after `retryAfter` seconds.
 */
export function unavailable(retryAfter: number): Refusal {
  return new Refusal(
    "service_unavailable",
    "Cannot reach the storage now: nothing was changed, and the request can be sent again",
    { "retry-after": String(retryAfter) },
  );
}

/**
 * The answer if a create may have happened. It has no `Retry-After`, which would invite the client
 * to send the request again (RFC 9110 §10.2.3) and perhaps add the pet twice.
 */
export const outcomeUnknown: Refusal = new Refusal(
  "service_unavailable",
  "Cannot tell whether the pet was added: the storage did not confirm it. Send it again if it had an Idempotency-Key; otherwise list the pets first",
);

/** The answer to a caller above the rate limit. */
export const tooManyRequests: Refusal = new Refusal(
  "too_many_requests",
  "Too many requests: wait as long as Retry-After says. Nothing was changed",
  { "retry-after": "1" }, // unless the limiter says how long
);

/** The answer of a server that is shutting down. `Connection: close` sends the client elsewhere. */
export const shuttingDown: Refusal = new Refusal(
  "service_unavailable",
  "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again",
  { "retry-after": "1", "connection": "close" },
);

/**
 * Shows what a client sent, inside a message: as a JSON string, so that control characters are
 * escaped, and cut after 40 code points.
 */
export function quote(sent: string): string {
  const text = sent.replace(/^(.{40}).+$/su, "$1…");
  // JSON does not escape DEL and the C1 controls, which a terminal that shows a log may act on.
  return JSON.stringify(text).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );
}

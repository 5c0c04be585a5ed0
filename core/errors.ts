/**
 * Every refusal of the service by what it is about, with its code and its sentence. A stage returns a
 * refusal instead of throwing it.
 */

import {
  type Answer,
  ERROR_STATUS,
  type ErrorBody,
  type ErrorCode,
  type Fields,
  JSON_HEADERS,
} from "./answer.ts";
import { quote } from "./pets/problems.ts";

/**
 * An answer with an Error body. It is a value and an {@linkcode Answer}, not an exception: taking a stack
 * costs as much as the rest of a request. The constant ones are made once.
 */
export class Refusal implements Answer {
  readonly code: ErrorCode;
  /** The sentence of the Error body. */
  readonly message: string;
  readonly status: number;
  readonly headers: Fields;
  readonly body: string;

  /** Makes the refusal, with `headers` beside those of every JSON response. */
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

/** Makes a refusal; a bundler drops it if nobody uses it. */
/* @__NO_SIDE_EFFECTS__ */ function refuse(
  code: ErrorCode,
  message: string,
  headers?: Fields,
): Refusal {
  return new Refusal(code, message, headers);
}

// The target.

/** A `Host` that is not one (RFC 9112 §3.2). */
export const malformedHost: Refusal = refuse(
  "bad_request",
  "Cannot read the request: the Host header must be a host name or address, with or without a port",
);

/** A target that is neither a path nor an http address (RFC 9112 §3.2). */
export const malformedTarget: Refusal = refuse(
  "bad_request",
  "Cannot read the request: its target must be a path or an http address",
);

/** The answer to a client that treats this server as a proxy (RFC 9110 §9.3.6). */
export const noTunnel: Refusal = refuse(
  "bad_request",
  "Cannot open tunnel: this server is not a proxy",
);

/** A path that the service does not have. */
export function pathNotFound(openApiPath: string): Refusal {
  return refuse(
    "not_found",
    `Cannot find this path: ${openApiPath} describes those of the service`,
  );
}

/** A path that the service has, without this method. */
export function methodNotAllowed(path: string, allow: string): Refusal {
  const message = `Method not allowed on ${path}; allowed: ${allow}`;
  return refuse("method_not_allowed", message, { allow });
}

// The key, and how often it is used.

const CHALLENGE = 'Bearer realm="petstore"';

/** A request with no credentials, or with those of another scheme (RFC 6750 §3.1). */
export const missingKey: Refusal = refuse(
  "unauthorized",
  'API key is missing: send it in the header "Authorization: Bearer <API_KEY>"',
  { "www-authenticate": CHALLENGE },
);

/** A key that is not valid. */
export const invalidKey: Refusal = refuse(
  "unauthorized",
  "API key is invalid: it is unknown, expired or revoked",
  { "www-authenticate": `${CHALLENGE}, error="invalid_token"` },
);

/** A caller above the rate limit. */
export const tooManyRequests: Refusal = refuse(
  "too_many_requests",
  "Too many requests: wait as long as Retry-After says. Nothing was changed",
  { "retry-after": "1" }, // unless the limiter says how long
);

// The body.

/* @__NO_SIDE_EFFECTS__ */ function unreadable(
  code: ErrorCode,
  reason: string,
  headers?: Fields,
): Refusal {
  return refuse(code, `Cannot read the body: ${reason}`, headers);
}

/** A body that is missing. */
export const noBody: Refusal = unreadable("bad_request", "it is missing");

/** A body that is not JSON (RFC 9110 §15.5.16). */
export const wrongMediaType: Refusal = unreadable(
  "unsupported_media_type",
  "its Content-Type must be a single application/json, in UTF-8",
  { accept: "application/json" },
);

/** A body with a `Content-Encoding`. */
export const wrongContentCoding: Refusal = unreadable(
  "unsupported_media_type",
  "it must be sent without a Content-Encoding",
  { accept: "application/json", "accept-encoding": "identity" },
);

/** A body with a `Transfer-Encoding` beside `chunked`. */
export const wrongTransferCoding: Refusal = unreadable(
  "bad_request",
  "its Transfer-Encoding must be chunked",
);

/** A body of too many bytes. */
export function tooLarge(maxBodyBytes: number): Refusal {
  const reason = `it has more than ${maxBodyBytes} bytes`;
  return unreadable("payload_too_large", reason);
}

/** A body of too many tiny pieces. */
export function tooManyPieces(maxPieces: number): Refusal {
  const reason = `it came in more than ${maxPieces} tiny pieces`;
  return unreadable("payload_too_large", reason);
}

/** A body that does not arrive in time. */
export const late: Refusal = unreadable(
  "request_timeout",
  "it did not arrive in time",
);

/** A body whose connection ended too early: the only `bad_request` of a `ReadBody`. */
export const cutShort: Refusal = unreadable("bad_request", "it was cut short");

/** A body that is not UTF-8. */
export const notUtf8: Refusal = unreadable(
  "bad_request",
  "it is not valid UTF-8",
);

/** A body of the right type that cannot be parsed. */
export const notJson: Refusal = unreadable(
  "bad_request",
  "it is not valid JSON",
);

// Pets.

/** Parameters of a list, or a pet to add, with something wrong. */
/* @__NO_SIDE_EFFECTS__ */ export function invalid(
  action: "list pets" | "create pet",
  problems: { toString(): string },
): Refusal {
  return refuse("bad_request", `Cannot ${action}: ${problems}`);
}

/** A header `Idempotency-Key` that is not exactly one key. */
export const malformedIdempotencyKey: Refusal = invalid(
  "create pet",
  "the Idempotency-Key header must be one key of 1 to 255 visible ASCII characters, such as " +
    '"8e03978e-40d5-43dd-bc93-6894a57f9324", with or without the quotes',
);

/** A key that has already added a different pet. */
export const reusedIdempotencyKey: Refusal = refuse(
  "idempotency_key_reused",
  "Cannot create pet: its Idempotency-Key was sent before with another pet; use a new key for each pet",
);

/** The id of no pet. */
export function petNotFound(petId: string): Refusal {
  return refuse(
    "not_found",
    `Cannot get pet: no pet has the id ${quote(petId)}`,
  );
}

/** Every request to `GET /pets/{petId}` after its removal. */
export function petRemoved(link: string): Refusal {
  return refuse(
    "not_found",
    "GET /pets/{petId} was removed on 5 December 2030. Use GET /pets with a status",
    { link },
  );
}

// Faults.

/** The storage did nothing. The request can be sent again after `retryAfter` seconds. */
export function unavailable(retryAfter: number): Refusal {
  return refuse(
    "service_unavailable",
    "Cannot reach the storage now: nothing was changed, and the request can be sent again",
    { "retry-after": String(retryAfter) },
  );
}

/**
 * A create may have happened. There is no `Retry-After`, which would invite the client to send the
 * request again (RFC 9110 §10.2.3) and perhaps add the pet twice.
 */
export const outcomeUnknown: Refusal = refuse(
  "service_unavailable",
  "Cannot tell whether the pet was added: the storage did not confirm it. Send it again if it had an Idempotency-Key; otherwise list the pets first",
);

/** A request failed in a way nobody expected. */
export const internalError: Refusal = refuse(
  "internal_error",
  "Something went wrong on our side",
);

/** A server that is shutting down. `Connection: close` sends the client elsewhere. */
export const shuttingDown: Refusal = refuse(
  "service_unavailable",
  "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again",
  { "retry-after": "1", "connection": "close" },
);

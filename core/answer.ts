/**
 * The one shape of a request and of an answer inside the service. Only `handler.ts` and the adapters
 * make a `Response` of an answer.
 */

/** Header fields by lower-case name, one value each. */
export type Fields = Readonly<Record<string, string>>;

/** The part of `Request` that the service reads. The body is read by a {@linkcode ReadBody}. */
export interface ServiceRequest extends Pick<Request, "method" | "url"> {
  /** The header fields, by name in any case. */
  readonly headers: Pick<Headers, "get">;
}

/** Limits on a request's body. */
export interface BodyLimits {
  /** Maximum number of bytes. */
  readonly maxBodyBytes: number;
  /** How long the whole body may take to arrive, in ms. */
  readonly bodyTimeout: number;
}

/**
 * Reads the body of a request, once.
 *
 * @param length its `Content-Length`, which is at most `maxBodyBytes`; `undefined` without one.
 * @returns the bytes, empty if there is no body; or the answer if it is too large, late or cut
 * short.
 * @throws {TypeError} if it was read before.
 */
export type ReadBody = (
  limits: BodyLimits,
  length: number | undefined,
) => Promise<ArrayBuffer | Uint8Array | Answer>;

/** The machine-readable codes of an Error body. Codes are stable; messages may improve. */
export type ErrorCode =
  | "bad_request"
  | "unauthorized"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "payload_too_large"
  | "unsupported_media_type"
  | "idempotency_key_reused"
  | "too_many_requests"
  | "internal_error"
  | "service_unavailable";

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

/** The body of every error response. */
export interface ErrorBody {
  /** Machine-readable. */
  readonly code: ErrorCode;
  /** For people; never carries stack traces, SQL, file paths or keys. */
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
}

/** A response as plain data. It may be shared by many requests: copy it to change it. */
export interface Answer {
  /** The HTTP status code. */
  readonly status: number;
  /** The header fields by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text, which is sent as UTF-8; bytes; a stream of bytes; or `null` if there is no content. */
  readonly body:
    | string
    | Uint8Array<ArrayBuffer>
    | ReadableStream<Uint8Array>
    | null;
  /** The code of the Error body; absent if this is not an error. */
  readonly code?: ErrorCode | undefined;
  /**
   * The path as a template, `/v1/pets/{petId}`, for logs and traces; absent if no route matches.
   */
  readonly route?: string | undefined;
  /** The id of the API key, for logs and traces; absent if the key is not valid or has no id. */
  readonly keyId?: string | number | undefined;
  /** The error, for the server's log; present if this is a 500, or the 503 of a storage. */
  readonly cause?: unknown;
  /**
   * False if it should not be sent: see {@linkcode noAnswer}. A layer that makes another answer of
   * it keeps this.
   */
  readonly isSent?: false | undefined;
}

/**
 * Answers requests; it never rejects. `connection` is what the server passes with a
 * request, such as its socket. `readBody` reads the body in the server's own way.
 */
export type Service = (
  request: ServiceRequest,
  connection: unknown,
  readBody: ReadBody,
) => Promise<Answer>;

/**
 * Wraps a service in another one, which adds something to it, and never rejects either: what others
 * call middleware.
 */
export type Layer = (service: Service) => Service;

/** The header fields of every JSON response. */
export const JSON_HEADERS: Fields = Object.freeze({
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** Answers with JSON text. `fields` are added to those of every JSON response. */
export function jsonAnswer(
  status: number,
  body: string,
  fields?: Fields,
): Answer {
  const headers = fields === undefined
    ? JSON_HEADERS
    : { ...JSON_HEADERS, ...fields };
  return { status, headers, body };
}

/**
 * No answer at all, for services that test how clients take that. A server that can closes the
 * connection; from a fetch function it is a 500, and `onError` gets the reason.
 */
export const noAnswer: Answer = {
  status: 500,
  headers: JSON_HEADERS,
  body:
    `{"code":"internal_error","message":"The service gave no answer","status":500}`,
  code: "internal_error",
  isSent: false,
};

/** Adds header fields to an answer. */
export function withFields(answer: Answer, fields: Fields): Answer {
  return { ...answer, headers: { ...answer.headers, ...fields } };
}

/**
 * The fields of a connection (RFC 9110 §7.6.1). Only the server that owns the connection decides on
 * them.
 */
export const CONNECTION_FIELDS: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
];

/**
 * What a refusal looks like: the closed set of codes, the Error body of the contract, and
 * {@linkcode ApiError}, the value that stages return instead of throwing.
 *
 * @module
 */

import { jsonReply, type Reply } from "./reply.ts";

/** The machine-readable codes of an Error body. Codes are stable; messages may improve. */
export type ErrorCode =
  | "bad_request"
  | "unauthorized"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "payload_too_large"
  | "unsupported_media_type"
  | "internal_error"
  | "service_unavailable";

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
  internal_error: 500,
  service_unavailable: 503,
};

/**
 * An expected refusal. It is a value and a {@linkcode Reply}, not an exception: it carries no stack
 * (taking one costs as much as the rest of a request), and the constant ones are made only once.
 */
export class ApiError implements Reply {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;

  /** Makes the refusal; `headers` are added to those of every JSON response. */
  constructor(
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.code = code;
    this.message = message;
    const status = ERROR_STATUS[code];
    const reply = jsonReply(
      status,
      JSON.stringify({ code, message, status } satisfies ErrorBody),
      headers,
    );
    this.status = reply.status;
    this.headers = Object.freeze(reply.headers); // many responses have the same
    this.body = reply.body;
  }
}

/**
 * Shows what a client sent, inside a message: as a JSON string, so that control characters are
 * escaped, and cut after 40 code points.
 */
export function quote(sent: string): string {
  // Each code point takes at most two units: what lies beyond is not even split.
  const points = [...sent.slice(0, 82)];
  const text = points.length <= 40 ? sent : points.slice(0, 40).join("") + "…";
  // JSON leaves DEL and the C1 controls as they are; a terminal that shows a log may act on them.
  return JSON.stringify(text).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );
}

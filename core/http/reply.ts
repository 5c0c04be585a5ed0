/**
 * A response as plain data. Every stage of the pipeline produces one; only the last line of
 * `handle` makes a `Response` of it.
 *
 * @module
 */

/** Status, headers and body of a response. */
export interface Reply {
  /** The HTTP status code. */
  readonly status: number;
  /** Field names in lower case, one value each. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text that is sent as UTF-8; `null` where there is no content. */
  readonly body: string | null;
}

/**
 * Something that makes a response: the global `Response`, or an adapter's lighter one. It must not
 * change `headers`: other responses have the same object, which is frozen then.
 */
export type ResponseConstructor = new (
  body: string | null,
  init: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
  },
) => Response;

/** The headers of every JSON response. */
export const JSON_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** A reply whose body is JSON text, with the headers of every JSON response. */
export function jsonReply(
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): Reply & { readonly body: string } {
  return {
    status,
    headers: headers === undefined
      ? JSON_HEADERS
      : { ...JSON_HEADERS, ...headers },
    body,
  };
}

/**
 * Makes the response. To `HEAD` it is the response to `GET` without the content: the same header
 * fields, `Content-Length` among them (RFC 9110 §9.3.2).
 */
export function toResponse(
  { status, headers, body }: Reply,
  { method, Response }: {
    readonly method: string;
    readonly Response: ResponseConstructor;
  },
): Response {
  if (method !== "HEAD" || body === null) {
    return new Response(body, { status, headers });
  }
  const length = new TextEncoder().encode(body).byteLength;
  return new Response(null, {
    status,
    headers: { ...headers, "content-length": String(length) },
  });
}

/** A response as plain data: only `createHandler` and the adapters make a `Response` of it. */

/** Header fields by lower-case name, one value each. */
export type Fields = Readonly<Record<string, string>>;

/** Status, header fields and body of a response. */
export interface Reply {
  /** The HTTP status code. */
  readonly status: number;
  /** The header fields. The object may be shared with other replies: copy it to change it. */
  readonly headers: Fields;
  /** Text, which is sent as UTF-8; `null` if there is no content. */
  readonly body: string | null;
}

/** The header fields of every JSON response. */
export const JSON_HEADERS: Fields = Object.freeze({
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** A reply whose body is JSON text. `headers` are added to those of every JSON response. */
export function jsonReply(
  status: number,
  body: string,
  headers?: Fields,
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
 * Makes the response. The response to `HEAD` is the one to `GET` without the content: it has the same
 * header fields, and `Content-Length` (RFC 9110 §9.3.2).
 */
export function toResponse(
  { status, headers, body }: Reply,
  method: string,
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

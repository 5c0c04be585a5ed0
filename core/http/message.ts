/**
 * The one shape of a request and of an answer inside the service. Only `toFetch` and the adapters make
 * a `Response` of an answer.
 */

/** Header fields by lower-case name, one value each. */
export type Fields = Readonly<Record<string, string>>;

/** The part of `Request` that the service reads. */
export interface ServiceRequest
  extends
    Pick<Request, "method" | "url" | "body" | "bodyUsed" | "arrayBuffer"> {
  /** The header fields, by name in any case. */
  readonly headers: Pick<Headers, "get">;
}

/** A response as plain data. It may be shared by many requests: copy it to change it. */
export interface Answer {
  /** The HTTP status code. */
  readonly status: number;
  readonly headers: Fields;
  /** Text, which is sent as UTF-8; bytes; a stream of bytes; or `null` if there is no content. */
  readonly body:
    | string
    | Uint8Array<ArrayBuffer>
    | ReadableStream<Uint8Array>
    | null;
  /** The path as a template, `/v1/pets/{petId}`, for logs and traces; absent if there is no such path. */
  readonly route?: string | undefined;
  /** The error, for the server's log; present if this is a 500, or the 503 of a storage. */
  readonly cause?: unknown;
}

/**
 * Answers requests; it never rejects. `connection` is what the runtime hands over with a request: Deno its
 * info, Bun its server, Node the socket.
 */
export type Service = (
  request: ServiceRequest,
  connection?: unknown,
) => Promise<Answer>;

/** Wraps a service in another one, which adds something to it. */
export type Layer = (service: Service) => Service;

/** The header fields of every JSON response. */
export const JSON_HEADERS: Fields = Object.freeze({
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** Answers with JSON text. `headers` are added to those of every JSON response. */
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

export function withFields(answer: Answer, fields: Fields): Answer {
  return { ...answer, headers: { ...answer.headers, ...fields } };
}

/** Makes the function for servers that pass a `Request` and want a `Response`: Deno's and Bun's. */
export function responder(service: Service) {
  return async (request: Request, connection?: unknown): Promise<Response> =>
    toResponse(await service(request, connection), request.method);
}

/** Makes the response. To `HEAD` it has the header fields of `GET`, and `Content-Length` (RFC 9110 §9.3.2). */
export function toResponse(
  { status, headers, body }: Answer,
  method?: string,
): Response {
  if (method !== "HEAD") {
    const init: ResponseInit & { readonly encodeBody: "manual" } = {
      status,
      headers,
      // Cloudflare Workers would compress a body again that has a Content-Encoding (their document Runtime APIs,
      // Response, `encodeBody`; cloudflare/workerd#7066). The test is tests/lab/workers/worker_slow.ts.
      encodeBody: "manual",
    };
    return new Response(body, init);
  }
  const bytes = typeof body === "string"
    ? new TextEncoder().encode(body)
    : body;
  const fields = bytes instanceof Uint8Array
    ? { ...headers, "content-length": String(bytes.byteLength) }
    : headers;
  return new Response(null, { status, headers: fields });
}

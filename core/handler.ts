/**
 * The service as a fetch function: the only file of the core that reads a `Request` and makes a
 * `Response`.
 */

import type { Answer, BodyLimits, ReadBody, Service } from "./answer.ts";
import { cutShort, late, type Refusal, tooLarge } from "./errors.ts";
import { giveUp, Pieces, readBefore } from "./http/body.ts";
import { ENCODE_BODY, MAX_PIECES, MICROTASKS, notRequest } from "./runtimes.ts";
import { report, type ServiceOptions } from "./service.ts";

/**
 * The service as a fetch function. It never rejects, but throws for a value that is no `Request`. It
 * ignores further arguments, which many hosts pass.
 */
export interface Handler {
  (request: Request): Promise<Response>;
  /**
   * The same service for adapters. It accepts the part of a request that it reads and returns plain
   * data, so that no `Request` and `Response` need to be made.
   */
  readonly answer: Service;
}

/**
 * Makes the fetch function of a service. `onError` receives the reason if the service answers
 * `noAnswer`; by default it is `console.error`.
 */
export function toHandler(
  service: Service,
  onError?: ServiceOptions["onError"],
): Handler {
  function handle(request: Request): Promise<Response> {
    if (typeof request?.headers?.get !== "function") throw notRequest();
    return respond(service, request, undefined, onError);
  }
  return Object.assign(handle, { answer: service });
}

/** Answers a `Request` with a `Response`. */
export function respond(
  service: Service,
  request: Request,
  connection: unknown,
  onError: ServiceOptions["onError"] = (cause) => console.error(cause),
): Promise<Response> {
  return service(request, connection, webBody(request)).then((answer) => {
    if (answer.isSent === false) {
      const { route, keyId } = answer;
      const reason = new Error(
        "The service gave no answer, but a fetch function must: the client gets a 500",
      );
      report(() => onError(reason, request, route, keyId));
    }
    return toResponse(answer, request.method);
  });
}

/**
 * Makes the response. For `HEAD` it has the header fields of `GET`, and `Content-Length` (RFC 9110
 * §9.3.2).
 */
export function toResponse(
  { status, headers, body }: Answer,
  method?: string,
): Response {
  if (method !== "HEAD") {
    const init: ResponseInit & { readonly encodeBody: string } = {
      status,
      headers,
      encodeBody: ENCODE_BODY,
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

/** Makes the function that reads the body of a `Request`. */
export function webBody(request: Request): ReadBody {
  return (limits, length) => {
    if (request.bodyUsed) return Promise.reject(readBefore());
    // Such a short body has few pieces, even byte by byte, and is read faster in one call.
    return length !== undefined && length <= MAX_PIECES
      ? readWhole(request, limits)
      : readStream(request, limits);
  };
}

/** Reads a short body in one call. HTTP ends it at its announced length (RFC 9112 §6.3). */
async function readWhole(
  request: Request,
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Promise<ArrayBuffer | Refusal> {
  let isOver = false;
  const reading = request.arrayBuffer().then((buffer) => {
    isOver = true;
    // It may be longer than announced if an embedder replaced the body.
    return buffer.byteLength > maxBodyBytes ? tooLarge(maxBodyBytes) : buffer;
  }, () => cutShort);
  for (let turn = 0; turn < MICROTASKS && !isOver; turn++) await null;
  if (isOver) return reading;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(late), bodyTimeout);
    reading.then((result) => {
      clearTimeout(timer);
      resolve(result);
    });
  });
}

async function readStream(
  { body }: Request,
  limits: BodyLimits,
): Promise<Uint8Array | Refusal> {
  const pieces = new Pieces(limits.maxBodyBytes);
  if (body === null) return pieces.bytes;
  const reader = body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp(reader);
  }, limits.bodyTimeout);
  try {
    const refusal = await pieces.addAll(reader);
    return isLate ? late : refusal ?? pieces.bytes;
  } catch {
    return isLate ? late : cutShort;
  } finally {
    clearTimeout(timer);
  }
}

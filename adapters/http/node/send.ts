/** Writes a response on Node, whichever kind of function made it, and says if the connection is kept after it. */

import { Buffer } from "node:buffer";
import type { Answer } from "../../../core/http/message.ts";
import { clientGone } from "./body.ts";
import { type Exchange, whenGone } from "./exchange.ts";
import { findField } from "./headers.ts";
import { endLater, isTooMuch, limitRest } from "./unread_body.ts";

export interface Outgoing {
  readonly status: number;
  /** Missing or empty for the usual one. */
  readonly statusText?: string;
  /** Names and values in turn; a name may repeat. */
  readonly fields: readonly string[];
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}

/** The response to an answer of the service. */
export function fromAnswer({ status, headers, body }: Answer): Outgoing {
  const fields: string[] = [];
  for (const name in headers) fields.push(name, String(headers[name]));
  return { status, fields, body };
}

/** The response that a fetch function returned; throws a `TypeError` if it cannot be sent. */
export function fromResponse(response: unknown): Outgoing {
  if (!isResponse(response)) {
    throw new TypeError("The fetch function did not return a Response");
  }
  const { status, statusText, headers, body, bodyUsed } = response;
  if (bodyUsed || body?.locked) {
    throw new TypeError("The fetch function returned a Response already read");
  }
  return { status, statusText, fields: [...headers].flat(), body };
}

/**
 * Writes a response: at once if its body is complete, else chunk by chunk, as fast as the client takes it; the
 * promise is rejected if the stream fails. A stream is cancelled if the client goes away, and for HEAD.
 */
export function send(
  outgoing: Outgoing,
  exchange: Exchange,
): Promise<void> | undefined {
  const { status, body } = outgoing;
  if (
    body !== null && typeof body !== "string" && !(body instanceof Uint8Array)
  ) {
    return sendStream(outgoing, body, exchange);
  }
  const isHead = exchange.req.method === "HEAD";
  const isBodiless = status === 204 || status === 304;
  // To a HEAD without a body, the length is what the fetch function says it is.
  const isLengthKnown = !isBodiless && (!isHead || body !== null);
  const fields = withoutFraming(outgoing, isLengthKnown || status === 204);
  if (isLengthKnown) {
    fields.push("content-length", String(Buffer.byteLength(body ?? "")));
  }
  writeHead(outgoing, fields, exchange);
  endResponse(exchange, isBodiless || isHead ? null : body);
}

async function sendStream(
  outgoing: Outgoing,
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange;
  const reader = body.getReader();
  const first = reader.read();
  const second = first.then(({ done }) => done ? first : reader.read());
  // A body that is there at once and in one piece, as text is, is sent with its length.
  const isWhole = await Promise.race([
    second.then(({ done }) => done),
    new Promise<false>((resolve) => setImmediate(resolve, false)),
  ]);
  if (isWhole) {
    const { value } = await first;
    return send({ ...outgoing, body: value ?? null }, exchange);
  }
  // Neither more nor less than was announced, or the next response would be misread.
  res.strictContentLength = true;
  try {
    writeHead(outgoing, withoutFraming(outgoing, false), exchange);
  } catch (error) {
    reader.cancel(error).catch(() => {}); // the error is thrown, whatever comes of this
    throw error;
  }
  if (req.method === "HEAD") {
    endResponse(exchange, null);
    return await reader.cancel();
  }
  res.flushHeaders();
  await pump([first, second], reader, exchange);
}

/** Sends the chunks that were asked for already, then the rest. */
async function pump(
  ahead: Promise<ReadableStreamReadResult<Uint8Array>>[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  const { res } = exchange;
  let isOver = false;
  let wake = (): void => {};
  let cancelled: Promise<void> | undefined;
  whenGone(exchange, () => {
    if (isOver) return;
    cancelled = reader.cancel(clientGone());
    wake();
  });
  res.on("drain", () => wake());
  try {
    while (cancelled === undefined) {
      const { done, value } = await (ahead.shift() ?? reader.read());
      if (cancelled !== undefined) break;
      if (done) return endResponse(exchange, null);
      if (!res.write(value)) await new Promise<void>((go) => wake = go);
    }
    await cancelled;
  } finally {
    isOver = true;
  }
}

function writeHead(
  { status, statusText }: Outgoing,
  fields: string[],
  exchange: Exchange,
): void {
  const { res } = exchange;
  if (mustClose(exchange, status)) res.shouldKeepAlive = false;
  res.writeHead(status, statusText || undefined, fields);
}

/** Tells whether the connection must be closed after a response. */
function mustClose({ req, server }: Exchange, status: number): boolean {
  // A client that took too long is not waited for again (RFC 9110 §15.5.9).
  return status === 408 || server?.listening === false ||
    // Node 22 and 26 drop what follows the offer of another protocol, and may take the middle of a body for a request
    // (nodejs/http-parser#234). Can go if tests/adapters/http/node/pipeline_test.ts passes without it.
    findField(req.rawHeaders, "upgrade") !== null ||
    // Nobody can be sure where such a request ends: HTTP/1.0 has no chunks (RFC 9112 §6.1).
    req.httpVersion === "1.0" &&
      findField(req.rawHeaders, "transfer-encoding") !== null ||
    !req.complete && isTooMuch(req);
}

/** Ends a response, of which `body` is all or the rest. */
function endResponse(
  exchange: Exchange,
  body: string | Uint8Array | null,
): void {
  const { req, res } = exchange;
  const isBodyLeft = exchange.body?.abandon() !== false && !req.complete &&
    !req.destroyed;
  // In HTTP/2 the answer ends its stream, and the connection goes on.
  const isKept = res.shouldKeepAlive || req.stream !== undefined;
  if (isBodyLeft && !isKept) return endLater(exchange, body);
  res.end(body ?? undefined);
  if (isBodyLeft) limitRest(req);
}

/** The fields without those by which the server says how the body is delimited (RFC 9112 §6). */
function withoutFraming(
  { fields }: Outgoing,
  isLengthKnown: boolean,
): string[] {
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = String(fields[i]).toLowerCase();
    if (name === "transfer-encoding") continue;
    if (name === "content-length" && isLengthKnown) continue;
    kept.push(name, String(fields[i + 1]));
  }
  return kept;
}

// Not `instanceof`: a Response may come from another realm, or from another copy of undici.
function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]";
}

/** Writes an answer on Node, and decides whether the connection is kept after it. */

import { Buffer } from "node:buffer";
import { type Answer, CONNECTION_FIELDS } from "../../../core/http/message.ts";
import type { Exchange } from "./exchange.ts";
import { findField } from "./headers.ts";
import { endLater, isTooMuch, limitRest } from "./unread_body.ts";

/**
 * The fields that the server sets itself: how the body is delimited, and whether the connection is
 * kept.
 */
const FIELDS_OF_SERVER = new Set([...CONNECTION_FIELDS, "transfer-encoding"]);

/**
 * Fulfilled once an answer is written; `undefined` if it is written already, as usual, which saves
 * a promise.
 */
type Written = Promise<void> | undefined;

/**
 * Writes an answer: at once if its body is complete, else chunk by chunk, as fast as the client
 * takes it; the promise is rejected if the stream fails. A stream is cancelled if the client goes
 * away, and for HEAD.
 *
 * @param statusText replaces that of an answer that could not be sent.
 */
export function send(
  answer: Answer,
  exchange: Exchange,
  statusText?: string,
): Written {
  const { status, body } = answer;
  if (
    body !== null && typeof body !== "string" && !(body instanceof Uint8Array)
  ) {
    return sendStream(answer, body, exchange);
  }
  const isHead = exchange.req.method === "HEAD";
  const isBodiless = status === 204 || status === 304;
  // To a HEAD without a body, the length is what the answer says it is.
  const isLengthKnown = !isBodiless && (!isHead || body !== null);
  const length = isLengthKnown ? Buffer.byteLength(body ?? "") : undefined;
  writeHead(answer, exchange, length, statusText);
  return endResponse(exchange, isBodiless || isHead ? null : body);
}

async function sendStream(
  answer: Answer,
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange;
  const reader = body.getReader();
  // Neither more nor less than was announced, or the next response would be misread.
  res.strictContentLength = true;
  try {
    writeHead(answer, exchange);
    if (req.method === "HEAD") {
      await endResponse(exchange, null);
      return await reader.cancel();
    }
    res.flushHeaders();
    await pump(reader, exchange);
  } catch (error) {
    reader.cancel(error).catch(() => {}); // the error is thrown, whatever comes of this
    throw error;
  }
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange;
  let wake = (): void => {};
  let cancelled: Promise<void> | undefined;
  const onGone = (): void => {
    cancelled ??= reader.cancel(clientGone());
    cancelled.catch(() => {}); // if the read under way fails too, that is thrown
    wake();
  };
  // Node 22 tells a response nothing as long as it waits behind another (pipelining), because it
  // has no socket yet. The socket goes with Node 22: Node 26 tells it (`abortOutgoing` in its
  // lib/_http_server.js), and there tests/adapters/http/node/pipeline_test.ts passes without it.
  // Each pipelined request adds a listener to it.
  const connection = req.stream ?? req.socket; // a stream is HTTP/2's
  connection.setMaxListeners(0);
  const emitters = [res, connection];
  for (const emitter of emitters) emitter.on("close", onGone);
  res.on("drain", () => wake());
  if (res.destroyed || emitters.some(({ destroyed }) => destroyed)) onGone();
  try {
    while (cancelled === undefined) {
      const { done, value } = await reader.read();
      if (cancelled !== undefined) break;
      if (done) return await endResponse(exchange, null);
      if (!res.write(value)) await new Promise<void>((go) => wake = go);
    }
    await cancelled;
  } finally {
    for (const emitter of emitters) emitter.off("close", onGone);
  }
}

/** Makes the reason with which a stream is cancelled if the client goes away. */
function clientGone(): DOMException {
  return new DOMException("The client closed the connection", "AbortError");
}

function writeHead(
  { status, headers }: Answer,
  exchange: Exchange,
  length?: number,
  statusText?: string,
): void {
  const { req, res } = exchange;
  const isLengthKnown = length !== undefined || status === 204;
  let isLast = mustClose(exchange, status);
  const fields: string[] = [];
  for (const name in headers) {
    const lower = name.toLowerCase();
    const value = String(headers[name]);
    if (lower === "connection" && /^close$/i.test(value)) isLast = true;
    if (FIELDS_OF_SERVER.has(lower)) continue;
    if (lower === "content-length" && isLengthKnown) continue;
    fields.push(name, value);
  }
  if (isLast) {
    res.shouldKeepAlive = false;
    // Replaces what a framework has set before. HTTP/2 has no such field.
    if (req.stream === undefined) fields.push("connection", "close");
  }
  if (length !== undefined) fields.push("content-length", String(length));
  res.writeHead(status, statusText, fields);
}

/** Tells whether the connection must be closed after a response. */
function mustClose({ req, server }: Exchange, status: number): boolean {
  // A client that took too long is not waited for again (RFC 9110 §15.5.9).
  return status === 408 || server?.listening === false ||
    // Node 22 and 26 drop what follows the offer of another protocol, and may take the middle of a
    // body for a request (nodejs/http-parser#234). Can go if
    // tests/adapters/http/node/pipeline_test.ts passes without it.
    findField(req.rawHeaders, "upgrade") !== null ||
    // Nobody can be sure where such a request ends: HTTP/1.0 has no chunks (RFC 9112 §6.1).
    req.httpVersion === "1.0" &&
      findField(req.rawHeaders, "transfer-encoding") !== null ||
    !req.complete && isTooMuch(req);
}

/**
 * Ends a response, of which `body` is all or the rest. Fails if the whole is shorter than was
 * announced.
 */
function endResponse(
  exchange: Exchange,
  body: string | Uint8Array | null,
): Written {
  const { req, res, isBodyRead } = exchange;
  const isBodyLeft = isBodyRead !== true && !req.complete && !req.destroyed;
  // In HTTP/2 the answer ends its stream, and the connection goes on.
  const isKept = res.shouldKeepAlive || req.stream !== undefined;
  if (isBodyLeft && !isKept) return endLater(exchange, body);
  res.end(body ?? undefined);
  if (isBodyLeft) limitRest(req);
  return undefined;
}

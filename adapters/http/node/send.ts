/**
 * Writes an answer on Node. `writeHead` decides whether the server closes the connection after it,
 * and tells Node by `shouldKeepAlive`. `endResponse` deals with a request body that still arrives.
 */

import { Buffer } from "node:buffer";
import { type Answer, CONNECTION_FIELDS } from "../../../core/kit.ts";
import { type Exchange, findField } from "./exchange.ts";
import { endLater, isRestTooLong, limitRest } from "./unread_body.ts";

/** The fields that are not copied from an answer: the server sets them, or leaves them out. */
const FIELDS_OF_SERVER = new Set([...CONNECTION_FIELDS, "transfer-encoding"]);

/**
 * Resolves once Node has the whole answer; `undefined`, to save a promise, in the usual case that
 * it already has.
 */
type Written = Promise<void> | undefined;

/**
 * Writes an answer: at once if its body is complete, otherwise chunk by chunk, as fast as the
 * client reads. Throws or rejects if that fails. Cancels a stream if the client goes away, and for
 * HEAD.
 */
export function send(answer: Answer, exchange: Exchange): Written {
  const { status, body } = answer;
  if (typeof body === "object" && body !== null && "getReader" in body) {
    return sendStream(answer, body, exchange);
  }
  const isHead = exchange.req.method === "HEAD";
  const isBodiless = status === 204 || status === 304;
  // For HEAD, an answer without a body keeps its own Content-Length.
  const isLengthKnown = !isBodiless && (!isHead || body !== null);
  const length = isLengthKnown ? Buffer.byteLength(body ?? "") : undefined;
  writeHead(answer, exchange, length);
  return endResponse(exchange, isBodiless || isHead ? null : body);
}

async function sendStream(
  answer: Answer,
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange;
  if (body.locked) throw new TypeError("Cannot send the body: it is in use");
  // A body longer or shorter than announced would make the client misread the next response.
  res.strictContentLength = true;
  try {
    writeHead(answer, exchange);
    if (req.method === "HEAD") {
      await endResponse(exchange, null);
      return await body.cancel();
    }
    res.flushHeaders();
    await pipe(body, exchange);
  } catch (error) {
    body.cancel(error).catch(() => {}); // `error` is thrown even if this fails
    throw error;
  }
}

/** Rejects if the stream fails, or cannot be cancelled when the client goes away. */
async function pipe(
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange;
  const departure = new AbortController();
  const { signal } = departure;
  let wake = (): void => {};
  const onGone = (): void => {
    departure.abort(
      new DOMException("The client closed the connection", "AbortError"),
    );
    wake();
  };
  res.once("close", onGone); // not chained: with `compression`, `on` returns another emitter
  res.on("drain", () => wake());
  if (req.socket.destroyed) onGone(); // the client had gone before
  const written = new WritableStream<Uint8Array>({
    async write(chunk) {
      if (res.write(chunk) || signal.aborted) return;
      await new Promise<void>((go) => wake = go);
    },
  });
  try {
    await body.pipeTo(written, { signal });
  } catch (error) {
    // The client went away, and the stream is cancelled.
    if (signal.aborted && error === signal.reason) return;
    throw error;
  }
  await endResponse(exchange, null);
}

function writeHead(
  { status, headers }: Answer,
  exchange: Exchange,
  length?: number,
): void {
  const { res } = exchange;
  const dropsLength = length !== undefined || status === 204; // a 204 has none
  let closes = mustClose(exchange, status);
  const fields: string[] = [];
  for (const name in headers) {
    const lower = name.toLowerCase();
    const value = String(headers[name]);
    if (lower === "connection" && /^close$/i.test(value)) closes = true;
    if (FIELDS_OF_SERVER.has(lower)) continue;
    if (lower === "content-length" && dropsLength) continue;
    fields.push(name, value);
  }
  if (closes) {
    res.shouldKeepAlive = false;
    fields.push("connection", "close"); // replaces what a framework has set
  }
  if (length !== undefined) fields.push("content-length", String(length));
  res.writeHead(status, fields);
}

/** Tells whether the connection must be closed after a response with this status. */
function mustClose({ req, server }: Exchange, status: number): boolean {
  // After a 408 (RFC 9110 §15.5.9), and when the server is closing.
  return status === 408 || server?.listening === false ||
    // Node 22 and 26 drop what follows an `Upgrade` request, and may parse the middle of a body as
    // a request (nodejs/http-parser#234). Can go if tests/adapters/http/node/pipeline_test.ts
    // passes without it.
    findField(req.rawHeaders, "upgrade") !== null ||
    // The end of chunks is uncertain in HTTP/1.0, which has none (RFC 9112 §6.1).
    req.httpVersion === "1.0" &&
      findField(req.rawHeaders, "transfer-encoding") !== null ||
    // More of the body may come than is worth reading.
    !req.complete && isRestTooLong(req);
}

/**
 * Ends a response with `body`, or with `null` if it has none or all is written. Fails if a stream
 * was shorter than announced.
 */
function endResponse(
  exchange: Exchange,
  body: string | Uint8Array | null,
): Written {
  const { req, res, isBodyRead } = exchange;
  const isBodyLeft = isBodyRead !== true && !req.complete && !req.destroyed;
  // The client may have asked for the close, too.
  if (isBodyLeft && !res.shouldKeepAlive) return endLater(exchange, body);
  res.end(body ?? undefined);
  if (isBodyLeft) limitRest(req);
  return undefined;
}

/** Sends a `Response` on Node. */

import type { Reply } from "../../core/http/reply.ts";
import { clientGone } from "./body.ts";
import {
  endAnswer,
  type Exchange,
  settleConnection,
  whenGone,
} from "./exchange.ts";

/** The head of an answer, as it is to be written. */
interface Head {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn. */
  readonly fields: string[];
}

/**
 * Sends a response: at once if its body is there, else chunk by chunk, as fast as the client takes it.
 * The body is cancelled if the client goes away, and for HEAD.
 *
 * @returns a promise if the body is a stream; if that fails, it is rejected and the connection closed.
 * @throws {TypeError} if it is no response that can be sent; nothing is sent then.
 */
export function send(
  response: unknown,
  exchange: Exchange,
): Promise<void> | undefined {
  if (!isResponse(response)) {
    throw new TypeError("The fetch function did not return a Response");
  }
  const { status, statusText, headers, body, bodyUsed } = response;
  if (bodyUsed || body?.locked) {
    throw new TypeError("The fetch function returned a Response already read");
  }
  const head = { status, statusText, fields: [...headers].flat() };
  if (body !== null) return sendStream(head, body, exchange);
  const isHead = exchange.req.method === "HEAD" && status !== 204;
  sendWhole(withoutFraming(head, !isHead && status !== 304), null, exchange);
}

/** Sends a reply of the service; if an answer has begun, that can only be broken off. */
export function sendReply(reply: Reply, exchange: Exchange): void {
  if (exchange.res.headersSent) {
    exchange.res.destroy();
    return;
  }
  const { status, headers, body } = reply;
  const fields: string[] = [];
  for (const name in headers) fields.push(name, headers[name] ?? "");
  sendWhole({ status, statusText: "", fields }, body, exchange);
}

function sendWhole(
  head: Head,
  body: string | Uint8Array | null,
  exchange: Exchange,
): void {
  const { method } = exchange.req;
  const isBodiless = head.status === 204 || head.status === 304;
  // To a HEAD without a body, the length is what the fetch function says it is.
  const isLengthKnown = !isBodiless && (method !== "HEAD" || body !== null);
  const fields = isLengthKnown
    ? [...head.fields, "content-length", String(Buffer.byteLength(body ?? ""))]
    : head.fields;
  writeHead({ ...head, fields }, exchange);
  const isSent = body !== null && !isBodiless && method !== "HEAD";
  endAnswer(exchange, isSent ? body : undefined);
}

async function sendStream(
  head: Head,
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
    return sendWhole(withoutFraming(head, true), value ?? null, exchange);
  }
  // Neither more nor less than the fetch function announced, or the next answer would be misread.
  res.strictContentLength = true;
  writeHead(withoutFraming(head, false), exchange);
  if (req.method === "HEAD") {
    endAnswer(exchange);
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
      if (done) return endAnswer(exchange);
      if (!res.write(value)) await new Promise<void>((go) => wake = go);
    }
    await cancelled;
  } finally {
    isOver = true;
  }
}

function writeHead(
  { status, statusText, fields }: Head,
  exchange: Exchange,
): void {
  settleConnection(exchange, status);
  if (statusText === "") exchange.res.writeHead(status, fields);
  else exchange.res.writeHead(status, statusText, fields);
}

/** The head without the fields by which the server says how the body is delimited (RFC 9112 §6). */
function withoutFraming(head: Head, isLengthKnown: boolean): Head {
  const fields: string[] = [];
  for (let i = 0; i + 1 < head.fields.length; i += 2) {
    const name = head.fields[i]?.toLowerCase() ?? "";
    if (name === "transfer-encoding") continue;
    if (name === "content-length" && isLengthKnown) continue;
    fields.push(name, head.fields[i + 1] ?? "");
  }
  return { ...head, fields };
}

// Not `instanceof`: a Response may come from another realm, or from another copy of undici.
function isResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null &&
    "status" in value && typeof value.status === "number" &&
    "headers" in value && typeof value.headers === "object" &&
    "body" in value;
}

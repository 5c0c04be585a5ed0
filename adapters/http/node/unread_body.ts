/**
 * Deals with the rest of a body that nobody reads. If it is short, it is discarded, and the
 * connection is kept. Otherwise the connection is closed, but only after the client could read its
 * answer.
 */

import type { IncomingMessage } from "node:http";
import { announcesBody } from "./body.ts";
import { type Exchange, findField } from "./exchange.ts";

/**
 * How much of an unwanted body is read, in bytes. If there is more, the connection is not reused.
 */
const MAX_DISCARD = 64 * 1024;
/** Each chunk counts as at least this many bytes, because tiny chunks cost about as much. */
const MIN_PIECE = 64;
/** How long the rest may take to arrive if the connection is kept, in ms. */
const MAX_DISCARD_TIME = 10_000;
/**
 * How long a connection stays open for a client that keeps sending, so that it can read its answer,
 * in ms.
 */
export const LINGER = 1000;

/**
 * Tells whether the rest of an incomplete body may be too long to drain. A client that still waits
 * for 100 Continue, and may send its body or not, needs no case: Node closes that connection itself
 * (`_expect_continue` in its lib/_http_server.js).
 */
export function isRestTooLong(req: IncomingMessage): boolean {
  if (!announcesBody(req)) return false;
  const length = findField(req.rawHeaders, "content-length");
  return length === null || Number(length) > MAX_DISCARD;
}

/** Closes a kept connection if the rest of the body takes too long. */
export function limitRest(req: IncomingMessage): void {
  if (!announcesBody(req)) return;
  const cut = () => req.complete || req.socket.destroy();
  const timer = setTimeout(cut, MAX_DISCARD_TIME);
  req.once("close", () => clearTimeout(timer));
}

/**
 * Ends a response with `body`, or with `null` if all is written, while the client is still sending.
 * Closing a socket with unread bytes resets it, and the client may lose the response (RFC 9112
 * §9.6). So the response is written whole, but ended only when the client stops sending, or has had
 * time to read it.
 *
 * @returns resolves then; rejects if the response is shorter than announced.
 */
export async function endLater(
  { req, res }: Exchange,
  body: string | Uint8Array | null,
): Promise<void> {
  if (body === null) res.flushHeaders();
  else res.write(body);
  let left = MAX_DISCARD;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER);
    req.on("data", (chunk: Uint8Array) => {
      left -= Math.max(chunk.length, MIN_PIECE);
      // Reading stops, so the client can send no more, and has time to read its answer.
      if (left < 0) req.pause();
    }).once("close", () => {
      clearTimeout(timer);
      resolve();
    }).resume();
  });
  res.end();
}

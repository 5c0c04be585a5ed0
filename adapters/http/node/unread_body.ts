/**
 * The rest of a body that nobody reads. If it is short, it is discarded, and the connection goes
 * on; otherwise the connection is closed, but only after the client could read its answer.
 */

import type { IncomingMessage } from "node:http";
import { announcesBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { findField } from "./headers.ts";

/**
 * The most that is read of an unwanted body, in bytes. If there is more, the connection is not used
 * again.
 */
const MAX_DISCARD = 64 * 1024;
/** Minimum charge per chunk, in bytes: tiny chunks cost as much as this. */
const MIN_PIECE = 64;
/** Time that the rest may take if the connection goes on, in ms. */
const MAX_DISCARD_TIME = 10_000;
/**
 * Time for which a connection is kept while its client keeps sending, so that it can read its
 * answer, in ms.
 */
export const LINGER = 1000;

/** Tells whether the rest of an incomplete body may be too long to drain. */
export function isTooMuch(req: IncomingMessage): boolean {
  // A client that still waits for its 100 Continue may send its body or not: Node closes there by
  // itself (`_expect_continue` in its lib/_http_server.js).
  if (!announcesBody(req)) return false;
  const length = findField(req.rawHeaders, "content-length");
  return length === null || Number(length) > MAX_DISCARD;
}

/** Closes a connection that is kept after its response, if the rest of the body takes too long. */
export function limitRest(req: IncomingMessage): void {
  if (!announcesBody(req)) return;
  const cut = () => req.complete || req.socket.destroy();
  const timer = setTimeout(cut, MAX_DISCARD_TIME);
  req.once("close", () => clearTimeout(timer));
}

/**
 * Ends a response, of which `body` is all or the rest, while the client is still sending. A socket
 * that is closed with unread bytes is reset, and a reset takes the response with it (RFC 9112
 * §9.6): so it is written whole, but ended only when the client stops, or has had time to read it.
 *
 * @returns fulfilled then; rejected if the response is shorter than was announced.
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
      // No more is read; the client, its way blocked, has time to read its answer.
      if (left < 0) req.pause();
    }).once("close", () => {
      clearTimeout(timer);
      resolve();
    }).resume();
  });
  res.end();
}

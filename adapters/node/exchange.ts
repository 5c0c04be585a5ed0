/** One request and its answer on Node, and when their connection is closed. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { announcesBody, type NodeBody, type NodeMessage } from "./body.ts";
import { findField } from "./headers.ts";

export interface Exchange {
  readonly req: NodeMessage;
  readonly res: ServerResponse;
  /** True if the client sends its body only when told so (RFC 9110 §10.1.1). */
  readonly awaitsContinue: boolean;
  /** Tells whether the server takes further requests, on this connection or any. */
  readonly isOpen: () => boolean;
  /** The request's body, once someone asked for it. */
  body?: NodeBody;
}

/** The most that is read of a body nobody wants, in bytes; beyond it the connection is not used again. */
const MAX_DISCARD = 64 * 1024;
/** Minimum charge per chunk, in bytes: tiny chunks cost as much as this. */
const MIN_PIECE = 64;
/** Time for which a connection is kept for a client that goes on sending, so that it can read its answer, in ms. */
export const LINGER = 1000;
/** Time that the rest of an unwanted body may take if the connection is kept, in ms. */
const MAX_DISCARD_TIME = 10_000;

/** Decides, before the head of the answer is written, whether the connection is kept after it. */
export function decideKeepAlive(
  { req, res, isOpen }: Exchange,
  status: number,
): void {
  // Nobody can be sure where such a request ends: HTTP/1.0 has no chunks (RFC 9112 §6.1).
  const isWronglyFramed = req.httpVersion === "1.0" &&
    findField(req.rawHeaders, "transfer-encoding") !== null;
  // Node drops what follows the offer of another protocol, and may take the middle of a body for a request.
  const isOfferingUpgrade = findField(req.rawHeaders, "upgrade") !== null;
  // A client that took too long is not waited for again (RFC 9110 §15.5.9).
  if (
    status === 408 || !isOpen() || isWronglyFramed || isOfferingUpgrade ||
    isTooMuchUnread(req)
  ) {
    res.shouldKeepAlive = false;
  }
}

/** Ends a response, of which `body` is all or the rest. */
export function endResponse(
  exchange: Exchange,
  body: string | Uint8Array | null,
): void {
  const { req, res } = exchange;
  const isRest = exchange.body?.abandon() ?? true;
  // In HTTP/2 the answer ends its stream, and the connection goes on.
  const isKept = res.shouldKeepAlive || req.stream !== undefined;
  if (req.complete || isKept || req.destroyed) {
    res.end(body ?? undefined);
    if (isRest && !req.complete && !req.destroyed && announcesBody(req)) {
      const cut = () => req.complete || req.socket.destroy();
      const timer = setTimeout(cut, MAX_DISCARD_TIME);
      req.once("close", () => clearTimeout(timer));
    }
    return;
  }
  // The client is still sending. A socket that is closed with unread bytes is reset, and a reset
  // takes the answer with it (RFC 9112 §9.6): so the answer is written whole, but not yet ended.
  if (body === null) res.flushHeaders();
  else res.write(body);
  let left = MAX_DISCARD;
  const end = (): void => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER);
  req.on("data", (chunk: Uint8Array) => {
    left -= Math.max(chunk.length, MIN_PIECE);
    // No more is read; the client, its way blocked, has time to read its answer.
    if (left < 0) req.pause();
  }).once("close", end).resume();
}

/** Calls back once if the client goes away before its answer is out; never after that. */
export function whenGone({ req, res }: Exchange, callback: () => void): void {
  const { socket, stream } = req;
  let isOver = false; // a listener that is removed while others are called is still called
  const onClose = (): void => {
    const isGone = res.destroyed || socket.destroyed;
    if (isOver || !isGone && !res.writableFinished) return;
    isOver = true;
    socket.off("close", onClose);
    // In HTTP/2 an answer that was cut off has "finished" too.
    if (!res.writableFinished || stream?.aborted) callback();
  };
  // An answer that waits behind another (pipelining) has no socket yet, and is told nothing.
  res.on("close", onClose);
  // Each pipelined request adds a listener to the same socket.
  socket.setMaxListeners(0).on("close", onClose);
  onClose();
}

// A client that still waits for its 100 Continue may send its body or not: Node closes there by itself.
function isTooMuchUnread(req: IncomingMessage): boolean {
  if (req.complete || !announcesBody(req)) return false;
  const length = findField(req.rawHeaders, "content-length");
  return length === null || Number(length) > MAX_DISCARD;
}

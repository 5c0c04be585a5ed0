/** Pipelined requests: only those with safe methods may be carried out side by side (RFC 9112 §9.3.2). */

import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Exchange } from "./exchange.ts";

const SAFE: readonly (string | undefined)[] = ["GET", "HEAD", "OPTIONS"];

/** The most responses of a connection that are begun before the client has taken the first of them. */
const MAX_BEGUN = 8;
/**
 * The most responses that may wait; with more, the connection is closed. Node reads no more while 64 KiB of
 * answers wait, each counted as `WEIGHT`, but what it has read may have a thousand requests in it.
 */
const MAX_WAITING = 256;
const WEIGHT = 2048;

interface Queue {
  last: ServerResponse;
  /** The number of responses that are not out yet. */
  length: number;
}

const queues = new WeakMap<Socket, Queue>();
/** Answers that are not begun yet. */
const waiting = new WeakSet<ServerResponse>();

/** The response that has its turn on a connection; `undefined` if the connection is idle. */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  // The only place where Node says so; its own closeIdleConnections() looks here as well.
  const { _httpMessage } = socket as { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}

/** Calls `begin` at once, or when the answers before this one that it must wait for are out. */
export function queueResponse(
  exchange: Exchange,
  begin: (exchange: Exchange) => void,
): void {
  const { req, res } = exchange;
  const { socket } = req;
  const current = currentResponse(socket);
  if (current === undefined || current === res) return begin(exchange);
  const queue = queues.get(socket) ?? { last: current, length: 0 };
  queues.set(socket, queue);
  const before = queue.last.writableFinished ? current : queue.last;
  queue.last = res;
  queue.length++;
  res.once("close", () => queue.length--);
  const canBegin = queue.length < MAX_BEGUN && !waiting.has(before) &&
    SAFE.includes(req.method) && SAFE.includes(before.req.method);
  if (canBegin) return begin(exchange);
  if (queue.length > MAX_WAITING) socket.destroy();
  waiting.add(res);
  // Counts bytes as made and not yet sent, as Node itself does for a response that is still queued.
  const counted: ServerResponse & { _onPendingData?(bytes: number): void } =
    res;
  counted._onPendingData?.(WEIGHT);
  const beginNow = AsyncResource.bind(begin); // in its own trace, not in that of `before`
  before.once("close", () => {
    waiting.delete(res);
    counted._onPendingData?.(-WEIGHT);
    // After `Connection: close` nothing more is carried out (RFC 9112 §9.6).
    if (socket.writable) beginNow(exchange);
  });
}

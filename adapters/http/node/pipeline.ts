/**
 * Pipelined requests: those that a client sends without waiting for earlier responses. Node sends
 * responses in order; this module decides when each request starts. Only requests with safe methods
 * may be handled in parallel (RFC 9112 §9.3.2).
 */

import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Exchange } from "./exchange.ts";

/** The methods that change nothing. */
const SAFE: readonly (string | undefined)[] = ["GET", "HEAD", "OPTIONS"];

/** How many requests of a connection may be under way at a time. */
const MAX_BEGUN = 8;
/**
 * How many responses may wait behind the current one; with more, the connection is closed. Node
 * stops reading while 64 KiB of responses wait, and each that has not begun counts as `WEIGHT`
 * bytes, but what it has already read may contain a thousand requests.
 */
const MAX_WAITING = 256;
const WEIGHT = 2048;

/** A request whose response has not been sent yet. */
interface Unanswered {
  readonly res: ServerResponse;
  /** Begins it; absent once it is begun. */
  begin?: (() => void) | undefined;
}

/** By connection, in order of arrival. Only connections that ever pipelined have a queue. */
const queues = new WeakMap<Socket, Unanswered[]>();

/** The response being sent on a connection; `undefined` if the connection is idle. */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  // Node 26 has no public property for this; its own `closeIdleConnections()` uses this one
  // (lib/_http_server.js). If Node renames it, tests/adapters/http/node/pipeline_test.ts fails.
  const { _httpMessage } = socket as { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}

/** Calls `begin` at once, or as soon as the responses that it must wait for have been sent. */
export function queueResponse(
  exchange: Exchange,
  begin: (exchange: Exchange) => void,
): void {
  const { res, req: { socket } } = exchange;
  const current = currentResponse(socket);
  if (current === undefined || current === res) return begin(exchange);
  const queue = queues.get(socket) ?? [];
  queues.set(socket, queue);
  if (queue.length === 0) enqueue(queue, { res: current });
  addPendingBytes(res, WEIGHT);
  // In its own trace, not that of the request whose response makes room for it.
  const beginInTrace = AsyncResource.bind(() => {
    addPendingBytes(res, -WEIGHT);
    begin(exchange);
  });
  enqueue(queue, { res, begin: beginInTrace });
  if (queue.length > 1 + MAX_WAITING) socket.destroy();
  else beginThoseThatMay(queue);
}

/** Adds a request, until its response has been sent. */
function enqueue(queue: Unanswered[], unanswered: Unanswered): void {
  queue.push(unanswered);
  const { res } = unanswered;
  const { socket } = res.req;
  res.once("close", () => {
    queue.splice(queue.indexOf(unanswered), 1);
    // Requests after `Connection: close` are not processed (RFC 9112 §9.6).
    if (socket.writable) beginThoseThatMay(queue);
  });
}

/** Begins the first requests: one alone, or several with safe methods. */
function beginThoseThatMay(queue: readonly Unanswered[]): void {
  for (const [index, unanswered] of queue.slice(0, MAX_BEGUN).entries()) {
    const isSafe = SAFE.includes(unanswered.res.req.method);
    if (!isSafe && index > 0) return;
    const { begin } = unanswered;
    unanswered.begin = undefined;
    begin?.();
    if (!isSafe) return;
  }
}

/**
 * Counts bytes as waiting to be sent, as Node 26 does for a queued response (`updateOutgoingData`
 * in its lib/_http_server.js). Node has no public limit on pipelined requests that could replace
 * this. If Node renames it, tests/adapters/http/node/pipeline_test.ts fails.
 */
function addPendingBytes(res: ServerResponse, bytes: number): void {
  const counted: ServerResponse & { _onPendingData?(bytes: number): void } =
    res;
  counted._onPendingData?.(bytes);
}

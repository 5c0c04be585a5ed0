/**
 * Pipelined requests: those that a client sends before the responses to others are out. Node sends
 * responses in order; this module decides when each request starts. Only requests with safe methods
 * may be handled side by side (RFC 9112 §9.3.2).
 */

import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Exchange } from "./exchange.ts";

/** The methods that change nothing. */
const SAFE: readonly (string | undefined)[] = ["GET", "HEAD", "OPTIONS"];

/** The most requests of a connection that are under way at a time. */
const MAX_BEGUN = 8;
/**
 * The most responses that may wait behind the current one; with more, the connection is closed.
 * Node reads no more while 64 KiB of responses wait, each counted as `WEIGHT` until it is begun,
 * but what it has read may have a thousand requests in it.
 */
const MAX_WAITING = 256;
const WEIGHT = 2048;

/** A request whose response is not out yet. */
interface Unanswered {
  readonly res: ServerResponse;
  /** Begins it; absent once it is begun. */
  begin?: (() => void) | undefined;
}

/** By connection, in the order of arrival. Only connections that ever pipelined have a queue. */
const queues = new WeakMap<Socket, Unanswered[]>();

/** The response that has its turn on a connection; `undefined` if the connection is idle. */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  // Node 26 says so in no public place; its own `closeIdleConnections()` looks here as well
  // (lib/_http_server.js). If Node renames it, tests/adapters/http/node/pipeline_test.ts fails.
  const { _httpMessage } = socket as { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}

/** Calls `begin` at once, or when the responses before this one that it must wait for are out. */
export function queueResponse(
  exchange: Exchange,
  begin: (exchange: Exchange) => void,
): void {
  const { res, req: { socket } } = exchange;
  const current = currentResponse(socket);
  if (current === undefined || current === res) return begin(exchange);
  let queue = queues.get(socket);
  if (queue === undefined || queue.length === 0) {
    queues.set(socket, queue = []);
    enqueue(queue, { res: current });
  }
  // In its own trace, not in that of the request whose response makes room for it.
  const beginInTrace = AsyncResource.bind(() => begin(exchange));
  addPendingBytes(res, WEIGHT);
  enqueue(queue, {
    res,
    begin() {
      addPendingBytes(res, -WEIGHT);
      beginInTrace();
    },
  });
  if (queue.length > 1 + MAX_WAITING) socket.destroy();
  else beginThoseThatMay(queue);
}

/** Adds a request, until its response is out. */
function enqueue(queue: Unanswered[], unanswered: Unanswered): void {
  queue.push(unanswered);
  const { res } = unanswered;
  const { socket } = res.req;
  res.once("close", () => {
    queue.splice(queue.indexOf(unanswered), 1);
    // After `Connection: close` nothing more is carried out (RFC 9112 §9.6).
    if (socket.writable) beginThoseThatMay(queue);
  });
}

/** Begins requests from the first on: one alone, or several with safe methods. */
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
 * Counts bytes as made and not yet sent, as Node 26 does for a response that is queued
 * (`updateOutgoingData` in its lib/_http_server.js). It has no public limit of pipelined requests,
 * which would take its place; if Node renames it, tests/adapters/http/node/pipeline_test.ts fails.
 */
function addPendingBytes(res: ServerResponse, bytes: number): void {
  const counted: ServerResponse & { _onPendingData?(bytes: number): void } =
    res;
  counted._onPendingData?.(bytes);
}

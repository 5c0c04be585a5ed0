/**
 * Pipelined requests: those that a client sends without waiting for earlier responses. Each begins
 * once the response before it has been sent, as on Deno, so few answers wait in memory.
 */

import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Exchange } from "./exchange.ts";

/** How many responses may wait behind the current one; with more, the connection is closed. */
const MAX_WAITING = 256;

/** By connection, the responses that wait. */
const waiting = new WeakMap<Socket, Set<ServerResponse>>();

/** The response being sent on a connection; `undefined` if the connection is idle. */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  // Node 26 has no public property for this; its own `closeIdleConnections()` uses this one
  // (lib/_http_server.js). If Node renames it, tests/adapters/http/node/pipeline_test.ts fails.
  const { _httpMessage } = socket as { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}

/** The last response of a connection, sent now or waiting, whose request has arrived in full. */
export function lastResponse(socket: Socket): ServerResponse | undefined {
  return [currentResponse(socket), ...waiting.get(socket) ?? []]
    .findLast((res) => res?.req.complete);
}

/**
 * Calls `begin` at once, or as soon as the response before this one has been sent; never, if the
 * connection closes first.
 */
export function queueResponse(
  exchange: Exchange,
  begin: (exchange: Exchange) => void,
): void {
  const { res, req: { socket } } = exchange;
  const current = currentResponse(socket);
  if (current === undefined || current === res) return begin(exchange);
  const queue = waiting.get(socket) ?? new Set();
  waiting.set(socket, queue.add(res));
  if (queue.size > MAX_WAITING) return void socket.destroy();
  // In its own trace, not that of the request whose response makes room for it.
  const beginNow = AsyncResource.bind(() => {
    queue.delete(res);
    // Requests after `Connection: close` are not processed (RFC 9112 §9.6).
    if (socket.writable) begin(exchange);
  });
  // A response gets the socket when its turn comes. The one before it need not be ours, and
  // middleware may pass requests on in another order.
  res.once("socket", beginNow);
}

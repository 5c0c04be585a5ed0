/**
 * Requests that a client sends on one connection without waiting for answers. Node hands them over as
 * they arrive; only those with safe methods may be carried out side by side (RFC 9112 §9.3.2).
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { currentAnswer } from "./client_error.ts";

const SAFE: readonly (string | undefined)[] = ["GET", "HEAD", "OPTIONS"];

/** The last answer of a connection that had another one before it. */
const lastOf = new WeakMap<Socket, ServerResponse>();
/** Answers that are not begun yet. */
const waiting = new WeakSet<ServerResponse>();

/** Calls `begin` at once, or when the answers before this one that it must wait for are out. */
export function inTurn(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  begin: () => void,
): void {
  const current = currentAnswer(req.socket);
  if (current === undefined || current === res) return begin();
  const last = lastOf.get(req.socket);
  const before = last === undefined || last.writableFinished ? current : last;
  lastOf.set(req.socket, res);
  if (isSafe(req) && isSafe(before.req) && !waiting.has(before)) return begin();
  waiting.add(res);
  before.once("close", () => {
    waiting.delete(res);
    if (!req.socket.destroyed) begin();
  });
}

function isSafe({ method }: IncomingMessage): boolean {
  return SAFE.includes(method);
}

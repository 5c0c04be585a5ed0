/**
 * The body of a request on Node, read in one go.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { clientGone, type NodeBody } from "./body.ts";
import { findField } from "./headers.ts";

/** A body that is being read, or was, as one piece. */
export interface WholeBody extends NodeBody {
  /**
   * All its bytes, in memory of their own. Fails with an `AbortError` where the client goes away
   * before the end, and where the request is answered before it.
   */
  readonly bytes: Promise<ArrayBuffer>;
}

/**
 * Reads a body to its end without the stream of `nodeBody`, which costs more than all
 * the rest of a small request. All that comes is taken and kept: a limit is for the caller to set, by
 * the length that is announced.
 *
 * @param onFirstRead called once where there is something to read, before that.
 */
export function wholeBody(
  req: IncomingMessage,
  onFirstRead: () => void,
): WholeBody {
  const isUsed = (): boolean => true;
  if (hasArrived(req)) {
    onFirstRead();
    const bytes = Promise.resolve(concatenate(takeAll(req)));
    return { bytes, isUsed, abandon: () => {} };
  }
  const { promise, resolve, reject } = Promise.withResolvers<ArrayBuffer>();
  const chunks: Uint8Array[] = [];
  // Where another parser has read it before, as in Express, nothing is left.
  if (req.readableEnded) resolve(concatenate(chunks));
  else if (req.destroyed) reject(clientGone());
  else {
    onFirstRead();
    // A request is closed after its end too: an error made for nobody would cost some µs.
    req.on("data", (chunk: Uint8Array) => void chunks.push(chunk))
      .on("end", () => resolve(concatenate(chunks)))
      .on("close", () => req.readableEnded || reject(clientGone()))
      .resume();
  }
  return {
    bytes: promise,
    isUsed,
    abandon() {
      if (req.readableEnded) return;
      reject(new DOMException("The request is already answered", "AbortError"));
    },
  };
}

/**
 * Whether there is nothing to wait for, as where the body came along with the header. Node says that a
 * request is complete only after it has handed over the last of it, when we are here already.
 */
function hasArrived(req: IncomingMessage): boolean {
  if (req.destroyed || req.readableEnded) return false;
  return req.complete ||
    findField(req.rawHeaders, "content-length") === String(req.readableLength);
}

/** Takes what has arrived already. */
function takeAll(req: IncomingMessage): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk: Uint8Array | null = req.read();
    if (chunk === null) return chunks;
    chunks.push(chunk);
  }
}

/** Copies: a chunk is a part of the memory that Node read from the connection into. */
function concatenate(chunks: readonly Uint8Array[]): ArrayBuffer {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes.buffer;
}

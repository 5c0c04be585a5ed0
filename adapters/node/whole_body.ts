/**
 * The body of a request on Node, read in one go.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { clientGone, type NodeBody } from "./body.ts";
import { findField } from "./headers.ts";

/** A body that is read as one piece. */
export interface WholeBody extends NodeBody {
  /**
   * All its bytes, in memory of their own. Fails with an `AbortError` if the client goes away before the
   * end, or if the request is answered before it.
   */
  readonly bytes: Promise<ArrayBuffer>;
}

/**
 * Reads a body to its end without the stream of `nodeBody`, which costs more than the rest of a small
 * request. It keeps all that comes: the caller limits it by the length that is announced.
 *
 * @param onFirstRead called once, before anything is read.
 */
export function wholeBody(
  req: IncomingMessage,
  onFirstRead: () => void,
): WholeBody {
  if (hasArrived(req)) {
    onFirstRead();
    const bytes = Promise.resolve(concatenate(takeAll(req)));
    return { bytes, abandon: () => false };
  }
  const { promise, resolve, reject } = Promise.withResolvers<ArrayBuffer>();
  const chunks: Uint8Array[] = [];
  // If another parser has read it before, nothing is left.
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
    abandon() {
      if (req.readableEnded) return false;
      reject(new DOMException("The request is already answered", "AbortError"));
      return true;
    },
  };
}

/**
 * Whether there is nothing to wait for, because the body came along with the header. Node calls a request
 * complete only after it has handed over the last of it, which is after we get here.
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

/** The body of a request on Node, as a web stream or in one piece. */

import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { findField } from "./headers.ts";

/** A request; of HTTP/2 if it has a stream. */
export type NodeMessage = IncomingMessage & {
  readonly stream?: {
    readonly endAfterHeaders?: boolean;
    readonly aborted?: boolean;
  };
};

export interface NodeBody {
  /** Present if the body is read as a stream. */
  readonly stream?: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Discards what is not read yet; returns whether there may be more to come. */
  abandon(): boolean;
}

/** Tells whether a request has a body that can be read: a `Request` of these methods has none. */
export function hasBody(req: IncomingMessage): boolean {
  return !/^(?:GET|HEAD|TRACE)$/.test(String(req.method)) && announcesBody(req);
}

/** Tells whether another parser has read the body, as `express.json()` does, or makes text of its bytes. */
export function isBodyUsed(req: IncomingMessage): boolean {
  return (req.readableDidRead || req.readableEncoding !== null) && hasBody(req);
}

/** Tells whether bytes follow the header (RFC 9112 §6.3, RFC 9113 §8.1). */
export function announcesBody(req: NodeMessage): boolean {
  const isEnd = req.stream?.endAfterHeaders;
  if (isEnd !== undefined) return !isEnd;
  const length = findField(req.rawHeaders, "content-length");
  if (length !== null) return Number(length) !== 0;
  return findField(req.rawHeaders, "transfer-encoding") !== null;
}

/**
 * Reads a body as a stream, which fails with an `AbortError` if the client goes away, or is answered, before
 * its end. A slow reader slows the sender down: one chunk is read whenever one is asked for.
 *
 * @param onFirstRead called once, before anything is read.
 */
export function nodeBody(
  req: IncomingMessage,
  onFirstRead: () => void,
): Required<NodeBody> {
  let isRead = false;
  let fail = (_reason: unknown): void => {};
  const source: UnderlyingByteSource = {
    type: "bytes",
    start(controller) {
      const onData = (chunk: Uint8Array): void => {
        req.pause();
        // A copy: a byte stream takes the memory that it is given, and in HTTP/2 a chunk is a slice of memory that
        // holds others, too (seen in Node 22 and 26; `OnDataChunkReceived` in their src/node_http2.cc).
        controller.enqueue(new Uint8Array(chunk));
      };
      const onEnd = (): void => {
        controller.close();
        // A reader waiting with a buffer of its own gets it back (Streams §4.7.3).
        controller.byobRequest?.respond(0);
      };
      // A request is closed after its end too, the usual case: then no error is made, which nobody would read.
      const onClose = (): unknown => req.readableEnded || fail(clientGone());
      fail = (reason) => {
        req.off("data", onData).off("end", onEnd).off("close", onClose);
        controller.error(reason);
      };
      // If another parser has read it before, nothing is left.
      if (req.readableEnded) onEnd();
      else if (req.destroyed) onClose();
      else req.on("end", onEnd).on("close", onClose).on("data", onData).pause();
    },
    pull() {
      if (!isRead) {
        isRead = true;
        onFirstRead();
      }
      req.resume();
    },
    cancel(reason) {
      fail(reason); // what comes after it is for nobody
      req.pause();
    },
  };
  return {
    stream: new ReadableStream(source, { highWaterMark: 0 }),
    abandon() {
      if (req.readableEnded) return false;
      fail(new DOMException("The request is already answered", "AbortError"));
      req.resume();
      return true;
    },
  };
}

/** Makes the error for readers and `request.signal` if the client goes away. */
export function clientGone(): DOMException {
  return new DOMException("The client closed the connection", "AbortError");
}

/**
 * Reads a body to its end, without the stream of {@linkcode nodeBody}, by which a create would take 1.76 times
 * its processor time. It keeps all that comes: the caller limits the length that is announced.
 */
export function wholeBody(
  req: IncomingMessage,
  onFirstRead: () => void,
): NodeBody & { readonly bytes: Promise<ArrayBuffer> } {
  const chunks: Uint8Array[] = [];
  if (hasArrived(req)) {
    onFirstRead();
    let chunk: Uint8Array | null;
    // The last call returns null, and ends the request for Node.
    while ((chunk = req.read()) !== null) chunks.push(chunk);
    return {
      bytes: Promise.resolve(concatenate(chunks)),
      abandon: () => false,
    };
  }
  const { promise, resolve, reject } = Promise.withResolvers<ArrayBuffer>();
  if (req.destroyed) reject(clientGone());
  else {
    onFirstRead();
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
 * Tells whether the body came along with the header. Node 26 sets `complete` only after handing it over
 * (`parserOnMessageComplete` in its lib/_http_common.js).
 */
function hasArrived(req: IncomingMessage): boolean {
  if (req.destroyed) return false;
  return req.complete ||
    findField(req.rawHeaders, "content-length") === String(req.readableLength);
}

/** Copies: Node's `Buffer.concat` may return a part of its pool (its document Buffer), whose `buffer` has more. */
function concatenate(chunks: readonly Uint8Array[]): ArrayBuffer {
  return new Uint8Array(Buffer.concat(chunks)).buffer;
}

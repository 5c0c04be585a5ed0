/**
 * The body of a request on Node, as a web stream.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { findField } from "./headers.ts";

/** The body of a request, which may never be read to its end. */
export interface NodeBody {
  /**
   * Discards what is not read yet; a reader that is still waiting fails.
   *
   * @returns whether there may be more to come.
   */
  abandon(): boolean;
}

/** A body as a stream. */
export interface StreamBody extends NodeBody {
  /** Fails with an `AbortError` if the client goes away before the end. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Whether a request has a body that can be read: a `Request` of these methods has none. */
export function hasBody(req: IncomingMessage): boolean {
  if (req.method === "GET" || req.method === "HEAD" || req.method === "TRACE") {
    return false;
  }
  return announcesBody(req);
}

/** Whether bytes follow the header (RFC 9112 §6.3). */
export function announcesBody(req: IncomingMessage): boolean {
  const length = findField(req.rawHeaders, "content-length");
  if (length !== null) return Number(length) !== 0;
  return findField(req.rawHeaders, "transfer-encoding") !== null;
}

/**
 * The body of a request. Nothing is read before it is asked for, and then one chunk at a time, so a
 * slow reader slows the sender down.
 *
 * @param onFirstRead called once, before anything is read.
 */
export function nodeBody(
  req: IncomingMessage,
  onFirstRead: () => void,
): StreamBody {
  let isRead = false;
  let isOpen = false;
  let fail = (_reason: unknown): void => {};
  const source: UnderlyingByteSource = {
    type: "bytes",
    start(controller) {
      const onData = (chunk: Uint8Array): void => {
        req.pause();
        // A copy: a byte stream takes the memory, and this may be a slice of what came with it.
        controller.enqueue(new Uint8Array(chunk));
      };
      const onEnd = (): void => {
        stop();
        controller.close();
        // A reader waiting with a buffer of its own gets it back (Streams §4.7.3).
        controller.byobRequest?.respond(0);
      };
      const onClose = (): void => fail(clientGone());
      const stop = (): void => {
        req.off("data", onData).off("end", onEnd).off("close", onClose);
        isOpen = false;
      };
      isOpen = true;
      fail = (reason) => {
        if (!isOpen) return;
        stop();
        controller.error(reason);
      };
      // If another parser has read it before, nothing is left.
      if (req.readableEnded) return onEnd();
      if (req.destroyed) return onClose();
      req.on("end", onEnd).on("close", onClose).on("data", onData).pause();
    },
    pull() {
      if (!isRead) {
        isRead = true;
        onFirstRead();
      }
      req.resume();
    },
    cancel(reason) {
      isRead = true;
      fail(reason);
      req.pause();
    },
  };
  return {
    stream: new ReadableStream(source, { highWaterMark: 0 }),
    abandon() {
      const isRest = isOpen;
      // If all was read, as mostly, the error would be made for nobody.
      if (isOpen) {
        fail(new DOMException("The request is already answered", "AbortError"));
      }
      req.resume();
      return isRest;
    },
  };
}

/** What readers and `request.signal` are told if the client goes away. */
export function clientGone(): DOMException {
  return new DOMException("The client closed the connection", "AbortError");
}

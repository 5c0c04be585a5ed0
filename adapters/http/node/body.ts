/** Reads the body of a request on Node. */

import type { IncomingMessage } from "node:http";
import {
  type BodyLimits,
  cutShort,
  late,
  Pieces,
  readBefore,
  type Refusal,
} from "../../../core/kit.ts";
import { type Exchange, findField } from "./exchange.ts";

/** Tells whether bytes follow the header (RFC 9112 §6.3). */
export function announcesBody(req: IncomingMessage): boolean {
  const length = findField(req.rawHeaders, "content-length");
  if (length !== null) return Number(length) !== 0;
  return findField(req.rawHeaders, "transfer-encoding") !== null;
}

/** The core's `ReadBody` on Node, without a web stream. */
export async function readBody(
  exchange: Exchange,
  limits: BodyLimits,
  length: number | undefined,
): Promise<Uint8Array | Refusal> {
  const { req, res, awaitsContinue } = exchange;
  if (!announcesBody(req)) return new Uint8Array();
  // Another parser, such as `express.json()`, has read it, or decodes its bytes to text.
  if (req.readableDidRead || req.readableEncoding !== null) throw readBefore();
  if (req.destroyed) return cutShort;
  if (awaitsContinue && !res.headersSent) res.writeContinue();
  if (length === req.readableLength && !req.readableFlowing) {
    // All of it has arrived, so it needs no timer. Since Node 26 `read()` returns only one piece.
    const bytes: Uint8Array = req.read(length) ?? new Uint8Array();
    req.read(); // returns null, and ends the request for Node
    exchange.isBodyRead = true;
    return bytes;
  }
  const pieces = new Pieces(limits.maxBodyBytes);
  return await new Promise((resolve) => {
    const end = (result: Uint8Array | Refusal): void => {
      clearTimeout(timer);
      req.off("data", onData).off("end", onEnd).off("close", onClose);
      resolve(result);
    };
    const timer = setTimeout(end, limits.bodyTimeout, late);
    const onData = (chunk: Uint8Array): void => {
      const refusal = pieces.add(chunk);
      if (refusal !== undefined) end(refusal);
    };
    const onEnd = (): void => {
      exchange.isBodyRead = true;
      end(pieces.bytes);
    };
    const onClose = (): void => end(cutShort);
    // What arrives after `end` is discarded, because the request keeps flowing.
    req.on("data", onData).on("end", onEnd).on("close", onClose).resume();
  });
}

/** Reads the body of a web `Request`, the kind that Deno, Bun, Workers and browsers have. */

import {
  cutShort,
  late,
  MAX_PIECES,
  Pieces,
  readBefore,
  tooLarge,
} from "./body.ts";
import type { BodyLimits, ReadBody } from "./message.ts";
import type { Refusal } from "./refusal.ts";

/**
 * A body that arrived with the header can be read after this many microtasks, so it needs no timer:
 * 2 on Deno 2.9, 1 on Node 22 and 26; on Bun 1.4 it mostly arrives later. With a timer a create
 * takes 1.2 times as much processor time on Deno 2.9. If the number is too low, a timer is set, no
 * more.
 */
const TURNS = 3;

/** Makes the function that reads the body of a `Request`. */
export function webBody(request: Request): ReadBody {
  return (limits, length) => {
    if (request.bodyUsed) return Promise.reject(readBefore());
    // Such a short body has few pieces, even byte by byte. Reading it as a stream would make a
    // create take 1.2 times as much processor time on Deno 2.9.
    return length !== undefined && length <= MAX_PIECES
      ? readWhole(request, limits)
      : readStream(request, limits);
  };
}

/** Reads a short body in one call. HTTP ends it at its announced length (RFC 9112 §6.3). */
async function readWhole(
  request: Request,
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Promise<Uint8Array | Refusal> {
  let isOver = false;
  const reading = request.arrayBuffer().then((buffer) => {
    isOver = true;
    // It may be longer than announced if an embedder replaced the body.
    return buffer.byteLength > maxBodyBytes
      ? tooLarge(maxBodyBytes)
      : new Uint8Array(buffer);
  }, () => cutShort);
  for (let turn = 0; turn < TURNS && !isOver; turn++) await null;
  if (isOver) return reading;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(late), bodyTimeout);
    reading.then((result) => {
      clearTimeout(timer);
      resolve(result);
    });
  });
}

async function readStream(
  { body }: Request,
  limits: BodyLimits,
): Promise<Uint8Array | Refusal> {
  const pieces = new Pieces(limits);
  if (body === null) return pieces.bytes;
  const reader = body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp(reader); // ends the read under way
  }, limits.bodyTimeout);
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (isLate) return late;
      if (done) return pieces.bytes;
      const refusal = pieces.add(value);
      if (refusal === undefined) continue;
      giveUp(reader);
      return refusal;
    }
  } catch {
    return isLate ? late : cutShort;
  } finally {
    clearTimeout(timer);
  }
}

function giveUp(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  // The answer is already known, so it does not matter if cancelling fails.
  reader.cancel().catch(() => {});
}

/** A large body in pieces, for Deno. */

import { type Answer, withFields } from "../../core/http/message.ts";

/** The size of a piece, in bytes. */
const PIECE = 128 * 1024;

/**
 * Has a large file sent piece by piece, as the client takes it. Deno would copy all of it for each client
 * that asks and reads nothing, as HTTP/2 allows 200 times a connection; Bun and Node do not.
 */
export function inPieces(answer: Answer): Answer {
  const { body } = answer;
  const isLarge = "Deno" in globalThis && body instanceof Uint8Array &&
    body.byteLength > PIECE;
  if (!isLarge) return answer;
  const length = { "content-length": String(body.byteLength) };
  const pieces = ReadableStream.from(piecesOf(body));
  return { ...withFields(answer, length), body: pieces };
}

function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.byteLength; start += PIECE) {
    yield body.subarray(start, start + PIECE);
  }
}

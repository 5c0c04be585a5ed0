/** A large body in pieces, for Deno. */

import { type Answer, withFields } from "../../core/http/message.ts";

/** The size of a piece, in bytes. */
const PIECE = 128 * 1024;

/**
 * Has a large file sent piece by piece, as the client takes it. Deno 2.9 copies all of it for each request, also if
 * its client reads nothing, and HTTP/2 allows 200 of those a connection (`op_http_set_response_body_bytes` in its
 * ext/http/00_serve.ts). Bun copies it once for each connection (oven-sh/bun#41679), Node never. Can go if Deno's
 * memory does not grow by the size of a file with each such request.
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

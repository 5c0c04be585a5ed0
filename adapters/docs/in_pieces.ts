/** Sends and compresses large files in pieces, for Deno. */

import { type Answer, withFields } from "../../core/kit.ts";
import type { Bytes } from "../http/static_content.ts";

/** The size of a piece, in bytes. */
const PIECE = 128 * 1024;

/**
 * Sends a large file piece by piece, as the client reads it. Deno 2.9 copies the whole file for
 * every request, even if the client never reads it, and HTTP/2 allows 200 requests per connection
 * (`op_http_set_response_body_bytes` in its ext/http/00_serve.ts). Bun copies it once per
 * connection (oven-sh/bun#41679), Node never. Can go if Deno's memory does not grow by the size of
 * a file with each such request.
 */
export function inPieces(answer: Answer): Answer {
  const { body } = answer;
  const isLarge = "Deno" in globalThis && body instanceof Uint8Array &&
    body.byteLength > PIECE;
  if (!isLarge) return answer;
  const length = { "content-length": String(body.byteLength) };
  const pieces = ReadableStream.from(inTurns(body));
  return { ...withFields(answer, length), body: pieces };
}

/**
 * Yields pieces, and lets other requests run in between. Deno 2.9 compresses on the thread that
 * answers them (`op_compression_write` in its ext/web/compression.rs; denoland/deno#13854). Can go
 * when that changes.
 */
export async function* inTurns(bytes: Bytes): AsyncGenerator<Bytes> {
  for (let start = 0; start < bytes.byteLength; start += PIECE) {
    if (start > 0) await new Promise((resolve) => setTimeout(resolve));
    yield bytes.subarray(start, start + PIECE);
  }
}

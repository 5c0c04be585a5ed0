/** Content that does not change while the process lives, with `ETag`, 304 and gzip. */

import { acceptedCodings, type Coding } from "./accept_encoding.ts";
import type { Fields, Service } from "./message.ts";
import { sha256 } from "../sha256.ts";

/** Bytes, because a text would be encoded for each request. */
export type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Answers 200 with a content, these fields and an `ETag`, compressed for clients that ask for it, or 304 if the
 * client has it. All is made on first use, because Cloudflare Workers forbid asynchronous work while a module loads
 * (cloudflare/workerd#158). Addresses have no version, so clients have to ask each time.
 */
export function staticContent(
  content: () => Bytes | Promise<Bytes>,
  headers: Fields,
): Service {
  const plain = once(async () => represent(await content(), headers));
  const variants: Readonly<Record<Coding, typeof plain>> = {
    identity: plain,
    gzip: once(async () => {
      const { whole: { body } } = await plain();
      const fields = { ...headers, "content-encoding": "gzip" };
      return represent(await gzip(body), fields);
    }),
  };

  return async ({ headers }) => {
    const codings = acceptedCodings(headers.get("accept-encoding"));
    // `*`, or a list of tags, weak or strong (RFC 9110 §13.1.2).
    const known = headers.get("if-none-match");
    for (const coding of known === null ? [] : codings) {
      const { etag, notModified } = await variants[coding]();
      if (known?.trim() === "*" || known?.includes(etag)) return notModified;
    }
    return (await variants[codings[0]]()).whole;
  };
}

async function represent(body: Bytes, headers: Fields) {
  // A strong entity tag (RFC 9110 §8.8.3): no other bytes have it.
  const etag = `"${(await sha256(body)).slice(0, 32)}"`;
  // The 304 has the fields that say how to store it, and no others (RFC 9110 §15.4.5).
  const few = { "cache-control": "no-cache", etag, vary: "Accept-Encoding" };
  const all = { ...headers, "x-content-type-options": "nosniff", ...few };
  return {
    etag,
    whole: { status: 200, headers: Object.freeze(all), body },
    notModified: { status: 304, headers: Object.freeze(few), body: null },
  };
}

/** Makes something on first use; if that fails, the next use tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  return () =>
    making ??= make().catch((cause) => {
      making = undefined;
      throw cause;
    });
}

async function gzip(bytes: Bytes): Promise<Bytes> {
  const compressed = ReadableStream.from(inTurns(bytes))
    .pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

/**
 * Pieces between which other requests have their turn. Deno 2.9 compresses on the thread that answers them
 * (`op_compression_write` in its ext/web/compression.rs; denoland/deno#13854): can go when that changes.
 */
async function* inTurns(bytes: Bytes): AsyncGenerator<Bytes> {
  const size = 64 * 1024;
  for (let start = 0; start < bytes.byteLength; start += size) {
    if (start > 0) await new Promise((resolve) => setTimeout(resolve));
    yield bytes.subarray(start, start + size);
  }
}

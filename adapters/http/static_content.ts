/** Content that does not change while the process lives, with `ETag`, 304 and gzip. */

import {
  type Answer,
  type Fields,
  type ServiceRequest,
  sha256,
} from "../../core/kit.ts";

/** Bytes, because a string would be encoded again for each request. */
export type Bytes = Uint8Array<ArrayBuffer>;
type Chunks = Iterable<Bytes> | AsyncIterable<Bytes>;

/** Answers with the content, or with 304. */
export type StaticContent = (request: ServiceRequest) => Promise<Answer>;

/**
 * Answers 200 with the content, these fields and an `ETag`, or 304 if the client has it. The
 * content is compressed if the client asks for it and the runtime can. Everything is made on first
 * use, because Cloudflare Workers forbid asynchronous work while a module loads
 * (cloudflare/workerd#158). Addresses have no version, so clients must revalidate each time.
 *
 * @param inPieces splits large content, so that it is compressed piece by piece.
 */
export function staticContent(
  content: () => Bytes | Promise<Bytes>,
  headers: Fields,
  inPieces: (bytes: Bytes) => Chunks = (bytes) => [bytes],
): StaticContent {
  const plain = once(async () => represent(await content(), headers));
  const variants: Readonly<Record<Coding, typeof plain>> = {
    identity: plain,
    gzip: once(async () => {
      const uncompressed = await plain();
      const { body } = uncompressed.whole;
      const fields = { ...headers, "content-encoding": "gzip" };
      // Vercel's edge-runtime 4.0.1 has no CompressionStream. Then every client gets plain content.
      const packed = await gzip(inPieces(body)).catch(() => undefined);
      return packed === undefined ? uncompressed : represent(packed, fields);
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
  // A strong entity tag (RFC 9110 §8.8.3): different bytes have different tags.
  const etag = `"${(await sha256(body)).slice(0, 32)}"`;
  // A 304 has only the fields that say how to store the content (RFC 9110 §15.4.5).
  const few = { "cache-control": "no-cache", etag, vary: "Accept-Encoding" };
  const all = { ...headers, "x-content-type-options": "nosniff", ...few };
  return {
    etag,
    whole: { status: 200, headers: Object.freeze(all), body },
    notModified: { status: 304, headers: Object.freeze(few), body: null },
  };
}

/** The content codings that this service supports. */
export type Coding = "gzip" | "identity";

/** A member of the list, with its weight: 0 to 1, by default 1. */
const MEMBER = /^\s*([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/;

/**
 * The codings that the client accepts, most preferred first. Without the header any is acceptable,
 * so `identity` comes first.
 */
export function acceptedCodings(
  field: string | null,
): readonly [Coding, ...Coding[]] {
  if (field === null) return ["identity", "gzip"];
  const weights = new Map<string, number>();
  for (const member of field.toLowerCase().split(",")) {
    const [, coding, weight = 1] = MEMBER.exec(member) ?? [];
    if (coding !== undefined) weights.set(coding, Number(weight));
  }
  const any = weights.get("*");
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? any ?? 0;
  // `identity`, which means no coding, is always acceptable unless refused: the last resort.
  const identity = weights.get("identity") ?? any ?? Number.MIN_VALUE;
  if (gzip === 0) return ["identity"];
  if (identity === 0) return ["gzip"];
  return gzip < identity ? ["identity", "gzip"] : ["gzip", "identity"];
}

/** Makes a value on first use; if that fails, the next use tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  return () =>
    making ??= make().catch((cause) => {
      making = undefined;
      throw cause;
    });
}

async function gzip(chunks: Chunks): Promise<Bytes> {
  const { readable, writable } = new CompressionStream("gzip");
  const writer = writable.getWriter();
  async function write(): Promise<void> {
    for await (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  }
  const compressed = new Response(readable).arrayBuffer();
  const [buffer] = await Promise.all([compressed, write()]);
  return new Uint8Array(buffer);
}

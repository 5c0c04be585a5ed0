/** A request's body: media type, encoding, size and deadline, then bytes and text. */

import { type ErrorCode, Refusal } from "./refusal.ts";
import type { Fields, ServiceRequest } from "./message.ts";

type Bytes = ArrayBuffer | Uint8Array;

export interface BodyLimits {
  /** The most bytes that are read. */
  readonly maxBodyBytes: number;
  /** Time that the whole body may take to arrive, in ms. */
  readonly bodyTimeout: number;
}

export const DEFAULT_LIMITS: BodyLimits = {
  maxBodyBytes: 65_536,
  bodyTimeout: 10_000,
};

// A body in more pieces than this must have `MIN_PIECE` bytes a piece on average. Deno 2.9 allocates 64 KiB for each
// piece (`DEFAULT_CHUNK_SIZE` in its ext/web/06_streams.js). Can go if tests/lab/faults/pieces_fault.ts passes without it.
const MAX_PIECES = 256;
const MIN_PIECE = 256;

/** A body up to this length is read in one call: even byte by byte it has at most 512 pieces. */
const MAX_WHOLE = 512;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * After so many turns of the microtask queue a body that came along with the header is there, and needs no timer:
 * 2 on Deno 2.9, 1 on Node 22 and 26; on Bun 1.4 it mostly comes later. A wrong number costs a timer, no more.
 */
const TURNS = 3;

const wrongMediaType = refuse(
  "unsupported_media_type",
  "its Content-Type must be application/json, in UTF-8",
  { accept: "application/json" },
);
const wrongCoding = refuse(
  "unsupported_media_type",
  "it must be sent without a Content-Encoding",
  { accept: "application/json", "accept-encoding": "identity" },
);
const wrongTransferCoding = refuse(
  "bad_request",
  "its Transfer-Encoding must be chunked",
);
const missing = refuse("bad_request", "it is missing");
const late = refuse("request_timeout", "it did not arrive in time");
/** The 400 for a body whose connection ended before it did. */
export const cutShort: Refusal = refuse("bad_request", "it was cut short");
const notUtf8 = refuse("bad_request", "it is not valid UTF-8");
const tooManyPieces = refuse(
  "payload_too_large",
  `it came in more than ${MAX_PIECES} tiny pieces`,
);
export const notJson: Refusal = refuse("bad_request", "it is not valid JSON");

function refuse(code: ErrorCode, reason: string, headers?: Fields): Refusal {
  return new Refusal(code, `Cannot read the body: ${reason}`, headers);
}

/**
 * Reads the text of a JSON body.
 *
 * @returns the text, or a {@linkcode Refusal}: 400 if there is no body, 415 for another media type or any
 * content coding, 413 for too many bytes, 408 if they stop coming, 400 if they are not UTF-8.
 */
export async function readText(
  request: ServiceRequest,
  limits: BodyLimits,
): Promise<string | Refusal> {
  const { headers } = request;
  const contentLength = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  const length = /^[0-9]+$/.test(String(contentLength))
    ? Number(contentLength)
    : NaN;
  const isAnnounced = contentLength !== null || coding !== null;
  if (length === 0 || !isAnnounced && request.body === null) return missing;
  const refusal = checkMediaType(headers);
  if (isAnnounced && refusal !== undefined) return refusal;
  // Not the client's fault: it gets a 500, and `onError` this error.
  if (request.bodyUsed) {
    throw new TypeError(
      "Cannot read the body: it was read before; mount the pet store before body parsers such as express.json()",
    );
  }
  if (length > limits.maxBodyBytes) return tooLarge(limits.maxBodyBytes);
  // Of `gzip, chunked` Deno 2.9 and Node 26 decode `chunked` alone, and would pass on the gzip as the body. Bun 1.4
  // answers 400 by itself (oven-sh/bun#35295): can go if the others do, too.
  if (Number.isNaN(length) && !/^chunked$/i.test(coding ?? "chunked")) {
    return wrongTransferCoding;
  }
  const bytes = length <= MAX_WHOLE
    ? await readWhole(request, limits)
    : await readStream(request, limits);
  if (bytes instanceof Refusal) return refusal ?? bytes;
  // On Deno 2.9 `request.body` is a stream even if there is no body, as only reading it shows (denoland/deno#26158).
  // Can go if tests/adapters/http/http_contract_test.ts passes without it.
  if (bytes.byteLength === 0) return missing;
  if (refusal !== undefined) return refusal;
  try {
    // `request.text()` would put U+FFFD in place of bytes that are not UTF-8.
    return utf8.decode(bytes);
  } catch {
    return notUtf8;
  }
}

/**
 * Accepts `application/json` in any case, with `charset=utf-8` or without, and no `Content-Type` at
 * all (RFC 9110 §8.3 leaves that to the recipient); refuses any coding but `identity` (§8.4).
 */
export function checkMediaType(
  headers: Pick<Headers, "get">,
): Refusal | undefined {
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.toLowerCase() !== "identity") {
    return wrongCoding;
  }
  const contentType = headers.get("content-type");
  if (contentType === null || contentType === "application/json") {
    return undefined;
  }
  const [mediaType, ...parameters] = contentType.toLowerCase().split(";");
  if (mediaType?.trim() !== "application/json") return wrongMediaType;
  for (const parameter of parameters) {
    const [name, value] = parameter.trim().split("=");
    if (name === "charset" && value !== "utf-8" && value !== '"utf-8"') {
      return wrongMediaType;
    }
  }
  return undefined;
}

/**
 * Reads a short body of an announced length, which is where HTTP ends it (RFC 9112 §6.3). With
 * {@linkcode readStream} a create would take 1.2 (Deno) to 1.5 (Node) times its processor time.
 */
async function readWhole(
  request: ServiceRequest,
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Promise<Bytes | Refusal> {
  let isOver = false;
  const reading = request.arrayBuffer().then((buffer) => {
    isOver = true;
    // It may be longer than announced if an embedder replaced the body.
    return buffer.byteLength > maxBodyBytes ? tooLarge(maxBodyBytes) : buffer;
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

/** Reads a body piece by piece, up to the cap. Each piece is copied at once, so that the runtime can let go of it. */
async function readStream(
  request: ServiceRequest,
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Promise<Bytes | Refusal> {
  const { body } = request;
  if (body === null) return missing;
  const reader = body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp(reader); // and the read under way ends
  }, bodyTimeout);
  try {
    let bytes = new Uint8Array();
    let length = 0;
    for (let pieces = 0;; pieces++) {
      const { done, value } = await reader.read();
      if (isLate) return late;
      if (done) return bytes.subarray(0, length);
      const end = length + value.byteLength;
      const isTiny = pieces >= MAX_PIECES && end < pieces * MIN_PIECE;
      if (end > maxBodyBytes || isTiny) {
        giveUp(reader);
        return isTiny ? tooManyPieces : tooLarge(maxBodyBytes);
      }
      if (end > bytes.byteLength) {
        const longer = new Uint8Array(Math.max(end, 2 * bytes.byteLength));
        longer.set(bytes);
        bytes = longer;
      }
      bytes.set(value, length);
      length = end;
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

function tooLarge(maxBodyBytes: number): Refusal {
  return refuse("payload_too_large", `it has more than ${maxBodyBytes} bytes`);
}

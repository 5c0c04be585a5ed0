/** A request's body: media type, encoding and size, then bytes and text. */

import type {
  Answer,
  BodyLimits,
  ErrorCode,
  Fields,
  ReadBody,
  ServiceRequest,
} from "../answer.ts";
import { Refusal } from "../errors.ts";

export const DEFAULT_LIMITS: BodyLimits = {
  maxBodyBytes: 65_536,
  bodyTimeout: 10_000,
};

/**
 * A body in more pieces than this must have `MIN_PIECE` bytes per piece on average, because a tiny
 * piece costs as much as a large one: Deno 2.9 allocates 64 KiB for each (`DEFAULT_CHUNK_SIZE` in
 * its ext/web/06_streams.js). This can go on Deno if tests/lab/faults/pieces_fault.ts passes
 * without it.
 */
export const MAX_PIECES = 256;
const MIN_PIECE = 256;

const utf8 = new TextDecoder("utf-8", { fatal: true });

export const wrongMediaType: Refusal = refuse(
  "unsupported_media_type",
  "its Content-Type must be a single application/json, in UTF-8",
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
/** The 408 for a body that does not arrive in time. */
export const late: Refusal = refuse(
  "request_timeout",
  "it did not arrive in time",
);
/** The 400 for a body whose connection ended too early: the only `bad_request` of a reader. */
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
 * @returns the text, or the answer that says why not: 400 if there is no body, 415 for another
 * media type or any content coding, 413 for too many bytes, 408 if they arrive too late, 400 if
 * they are not UTF-8.
 */
export async function readText(
  { headers }: Pick<ServiceRequest, "headers">,
  limits: BodyLimits,
  readBody: ReadBody,
): Promise<string | Answer> {
  const contentLength = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  const length = contentLength !== null && /^[0-9]+$/.test(contentLength)
    ? Number(contentLength)
    : undefined;
  if (length === 0) return missing;
  const refusal = checkMediaType(headers);
  const isAnnounced = contentLength !== null || coding !== null;
  if (isAnnounced && refusal !== undefined) return refusal;
  if (length !== undefined && length > limits.maxBodyBytes) {
    return tooLarge(limits.maxBodyBytes);
  }
  // Deno 2.9 and Node 26 decode only the `chunked` of `gzip, chunked`, and would pass on the gzip
  // as the body. Node 22 ignores an empty field beside a length. Bun 1.4 answers 400 by itself
  // (oven-sh/bun#35295): this can go if the others do so too.
  if (coding !== null && !/^chunked$/i.test(coding)) {
    return wrongTransferCoding;
  }
  const bytes = await readBody(limits, length);
  if ("status" in bytes) return refusal ?? bytes;
  // HTTP/2 allows a body that is not announced: only reading shows whether there is one.
  if (bytes.byteLength === 0) return missing;
  if (refusal !== undefined) return refusal;
  return decodeUtf8(bytes) ?? notUtf8;
}

/** Decodes UTF-8; `undefined` if it is not. `text()` would replace what is not with U+FFFD. */
export function decodeUtf8(
  bytes: ArrayBuffer | Uint8Array,
): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Accepts `application/json` in any case, with or without `charset=utf-8`, and a missing
 * `Content-Type` (RFC 9110 §8.3 leaves that to the recipient). Refuses any coding but `identity`
 * (§8.4).
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
    const [name, value] = parameter.split("=").map((part) => part.trim());
    if (name === "charset" && value !== "utf-8" && value !== '"utf-8"') {
      return wrongMediaType;
    }
  }
  return undefined;
}

/**
 * Collects a body piece by piece. Each piece is copied at once, so that the runtime can free it.
 */
export class Pieces {
  readonly #maxBodyBytes: number;
  readonly #maxPieces: number;
  readonly #minPiece: number;
  #memory = new Uint8Array();
  #length = 0;
  #count = 0;

  constructor(
    maxBodyBytes: number,
    maxPieces = MAX_PIECES,
    minPiece = MIN_PIECE,
  ) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#maxPieces = maxPieces;
    this.#minPiece = minPiece;
  }

  /** Adds a piece; returns the refusal if the body has too many bytes or tiny pieces. */
  add(piece: Uint8Array): Refusal | undefined {
    const end = this.#length + piece.byteLength;
    const isTiny = this.#count >= this.#maxPieces &&
      end < this.#count * this.#minPiece;
    if (isTiny) return tooManyPieces;
    if (end > this.#maxBodyBytes) return tooLarge(this.#maxBodyBytes);
    if (end > this.#memory.byteLength) {
      const size = Math.max(end, 2 * this.#memory.byteLength);
      const larger = new Uint8Array(size);
      larger.set(this.bytes);
      this.#memory = larger;
    }
    this.#memory.set(piece, this.#length);
    this.#length = end;
    this.#count++;
    return undefined;
  }

  /** Adds what a stream has. If a piece is refused, cancels the stream and returns the refusal. */
  async addAll(
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<Refusal | undefined> {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      const refusal = this.add(value);
      if (refusal === undefined) continue;
      giveUp(reader);
      return refusal;
    }
  }

  /** The bytes added so far. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#length);
  }
}

/** Cancels a stream whose rest is not wanted, and so ends the read under way. */
export function giveUp(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  // The outcome is already known, so it does not matter if this fails.
  reader.cancel().catch(() => {});
}

/** Refuses a body of too many bytes, with 413. */
export function tooLarge(maxBodyBytes: number): Refusal {
  return refuse("payload_too_large", `it has more than ${maxBodyBytes} bytes`);
}

/**
 * Makes the error for a body that cannot be read again. The client is not at fault: it gets a 500,
 * and `onError` gets this error.
 */
export function readBefore(): TypeError {
  return new TypeError(
    "Cannot read the body: it was read before; mount the pet store before body parsers such as express.json()",
  );
}

/** A request's body: media type, encoding and size, then bytes and text. */

import type {
  Answer,
  BodyLimits,
  ReadBody,
  ServiceRequest,
} from "../answer.ts";
import {
  noBody,
  notUtf8,
  type Refusal,
  tooLarge,
  tooManyPieces,
  wrongContentCoding,
  wrongMediaType,
  wrongTransferCoding,
} from "../errors.ts";
import { isChunked, MAX_PIECES, MIN_PIECE } from "../runtimes.ts";

/** The limits on a body, unless options say otherwise. */
export const DEFAULT_LIMITS: BodyLimits = {
  maxBodyBytes: 65_536,
  bodyTimeout: 10_000,
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the text of a JSON body.
 *
 * @returns the text, or the answer that says why not: 400 if there is no body, 415 for any content
 * coding or another media type, 413 for too many bytes or tiny pieces, 400 for another transfer
 * coding, 408 if it arrives too late, 400 if it is cut short or not UTF-8.
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
  if (length === 0) return noBody;
  const wrongType = checkMediaType(headers);
  const isAnnounced = contentLength !== null || coding !== null;
  if (isAnnounced && wrongType !== undefined) return wrongType;
  if (length !== undefined && length > limits.maxBodyBytes) {
    return tooLarge(limits.maxBodyBytes);
  }
  if (coding !== null && !isChunked(coding)) return wrongTransferCoding;
  const bytes = await readBody(limits, length);
  if ("status" in bytes) return wrongType ?? bytes;
  // HTTP/2 allows a body that is not announced: only reading shows whether there is one.
  if (bytes.byteLength === 0) return noBody;
  if (wrongType !== undefined) return wrongType;
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
    return wrongContentCoding;
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

  /** Makes an empty body, with its limits. */
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
    if (isTiny) return tooManyPieces(this.#maxPieces);
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

/**
 * Makes the error for a body that cannot be read again. The client is not at fault: it gets a 500,
 * and `onError` gets this error.
 */
export function readBefore(): TypeError {
  return new TypeError(
    "Cannot read the body: it was read before; mount the pet store before body parsers such as express.json()",
  );
}

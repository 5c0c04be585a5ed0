/**
 * A request's body: media type, encoding, size and deadline, then bytes, text, JSON.
 *
 * @module
 */

import { Refusal } from "./refusal.ts";
import { parseJson } from "../pets/int64.ts";

/** What is read of a request to get its body: a `Request`, or as much of one. */
export interface IncomingBody
  extends Pick<Request, "body" | "bodyUsed" | "arrayBuffer"> {
  readonly headers: Pick<Headers, "get">;
}

/** How much of a body is read, and for how long. */
export interface BodyLimits {
  /** The most bytes that are read. */
  readonly maxBodyBytes: number;
  /** How long the whole body may take to arrive, in ms. */
  readonly bodyTimeout: number;
}

export const wrongMediaType: Refusal = new Refusal(
  "unsupported_media_type",
  "Cannot read the body: its Content-Type must be application/json, in UTF-8",
  { accept: "application/json" },
);
export const wrongCoding: Refusal = new Refusal(
  "unsupported_media_type",
  "Cannot read the body: it must be sent without a Content-Encoding",
  { accept: "application/json", "accept-encoding": "identity" },
);
export const missing: Refusal = new Refusal(
  "bad_request",
  "Cannot read the body: it is missing",
);
export const late: Refusal = new Refusal(
  "request_timeout",
  "Cannot read the body: it did not arrive in time",
);
const cutShort = new Refusal(
  "bad_request",
  "Cannot read the body: it was cut short",
);
const notUtf8 = new Refusal(
  "bad_request",
  "Cannot read the body: it is not valid UTF-8",
);
const tooDeep = new Refusal(
  "bad_request",
  "Cannot read the body: its JSON is nested too deeply",
);
export const notJson: Refusal = new Refusal(
  "bad_request",
  "Cannot read the body: it is not valid JSON",
);

/**
 * Reads a JSON body, with int64 numbers as `bigint`.
 *
 * @returns the value, or an {@linkcode Refusal}: 415 for another media type or any content coding,
 * 413 for too many bytes, 408 where they stop coming, 400 where they are not UTF-8 or not JSON.
 */
export async function readJson(
  request: IncomingBody,
  limits: BodyLimits,
): Promise<unknown> {
  const refusal = checkMediaType(request.headers);
  if (refusal !== undefined) return refusal;
  const bytes = await readBytes(request, limits);
  if (bytes instanceof Refusal) return bytes;
  if (bytes.byteLength === 0) return missing;
  const text = decodeUtf8(bytes);
  return text instanceof Refusal ? text : parse(text);
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
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(";");
  if (mediaType.trim() !== "application/json") return wrongMediaType;
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.trim().split("=");
    if (name === "charset" && value !== "utf-8" && value !== '"utf-8"') {
      return wrongMediaType;
    }
  }
  return undefined;
}

/** Reads the bytes of a body up to the cap. Where there are more, the rest is not read. */
function readBytes(
  request: IncomingBody,
  limits: BodyLimits,
): Promise<Uint8Array | Refusal> | Refusal {
  // No fault of the client: it is told 500, and `onError` this.
  if (request.bodyUsed) {
    throw new TypeError("The body of the request was read before");
  }
  const length = request.headers.get("content-length");
  if (length === null || !/^[0-9]+$/.test(length)) {
    return readStream(request, limits);
  }
  return Number(length) > limits.maxBodyBytes
    ? tooLarge(limits.maxBodyBytes)
    : readWhole(request, limits);
}

/**
 * Reads a body of an announced length, which is where HTTP ends it (RFC 9112 §6.3): no more can come
 * than fits the cap. It comes to the same as {@linkcode readStream} and takes 0.7 of its time on Deno
 * and Bun (`deno task bench paths`); on Node the adapter's own request has a shorter way for it.
 */
function readWhole(
  request: IncomingBody,
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Promise<Uint8Array | Refusal> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopWaiting = (): void => {
      isOver = true;
      clearTimeout(timer);
    };
    request.arrayBuffer().then((buffer) => {
      stopWaiting();
      try {
        resolve(wholeBytes(buffer, maxBodyBytes));
      } catch (cause) {
        reject(cause);
      }
    }, () => {
      stopWaiting();
      resolve(cutShort);
    });
    const setTimer = (): void => {
      if (isOver) return;
      timer = setTimeout(() => resolve(late), bodyTimeout);
    };
    // On Deno and Node most bodies are there within two turns of the microtask queue, and need no timer.
    queueMicrotask(() => queueMicrotask(setTimer));
  });
}

function wholeBytes(
  buffer: ArrayBuffer,
  maxBodyBytes: number,
): Uint8Array | Refusal {
  return buffer.byteLength > maxBodyBytes
    ? tooLarge(maxBodyBytes) // an embedder put another body under the header of the first
    : new Uint8Array(buffer);
}

/** Reads a body chunk by chunk. */
async function readStream(
  request: IncomingBody,
  { maxBodyBytes, bodyTimeout }: BodyLimits,
): Promise<Uint8Array | Refusal> {
  if (request.body === null) return missing;
  const reader = request.body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp(reader); // and the read under way ends
  }, bodyTimeout);
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) return late;
      if (done) return concatenate(chunks, length);
      length += value.byteLength;
      if (length > maxBodyBytes) {
        giveUp(reader);
        return tooLarge(maxBodyBytes);
      }
      chunks.push(value);
    }
  } catch {
    return isLate ? late : cutShort;
  } finally {
    clearTimeout(timer);
  }
}

function giveUp(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  // How the other side takes it changes nothing: the answer is already known.
  reader.cancel().catch(() => {});
}

/** The 413 for a body above the limit. */
export function tooLarge(maxBodyBytes: number): Refusal {
  return new Refusal(
    "payload_too_large",
    `Cannot read the body: it has more than ${maxBodyBytes} bytes`,
  );
}

function concatenate(
  chunks: readonly Uint8Array[],
  length: number,
): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes strictly: `request.text()` would put U+FFFD in the place of bytes that are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | Refusal {
  try {
    return utf8.decode(bytes);
  } catch {
    return notUtf8;
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    return cause instanceof RangeError ? tooDeep : notJson; // a RangeError: the stack was used up
  }
}

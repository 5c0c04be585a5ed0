/**
 * One request and its response, read to its end: within a time, and until the caller aborts.
 *
 * @module
 */

import type { Clock } from "./clock.ts";

/** Status and header of a response. */
export interface Head {
  /** The HTTP status code; 0 where a browser hides a redirect. */
  readonly status: number;
  readonly headers: Headers;
}

/** A response, read to its end. */
export interface Answer extends Head {
  /** Where it came from, in full: what relative references in it resolve against. */
  readonly url: string;
  /** The body; `undefined` where it is not UTF-8, or longer than {@linkcode MAX_BODY_BYTES}. */
  readonly text: string | undefined;
}

/** No response, or none in full. */
export interface Fault {
  readonly code: "network_error" | "timeout";
  readonly cause: unknown;
  /** The beginning of the response, where it came that far. */
  readonly head: Head | undefined;
}

/** What {@linkcode exchange} needs. */
export interface ExchangeOptions {
  /** Sends the request. It need not heed the request's signal. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly clock: Clock;
  /** How long it may take until the body is read, in ms. */
  readonly timeout: number;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** The most that is read of a body. A full page of the longest names is a tenth of it. */
export const MAX_BODY_BYTES: number = 4 * 1024 * 1024;

/**
 * Sends a request once. However it ends, no timer and no listener is left, and the response's body
 * is either read or cancelled.
 *
 * @throws the reason of `signal` where that aborts.
 */
export async function exchange(
  url: string,
  init: RequestInit,
  { fetch, clock, timeout, signal }: ExchangeOptions,
): Promise<Answer | Fault> {
  signal?.throwIfAborted();
  // A controller of its own: the caller's signal may outlive many calls, and keeps what listens to it.
  const ending = new AbortController();
  const onAbort = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const cancelTimer = clock.setTimer(timeout, () => {
    ending.abort(new DOMException("It took too long", "TimeoutError"));
  });
  let head: Head | undefined;
  try {
    const request = new Request(url, { ...init, signal: ending.signal });
    const response = await send(request, fetch, ending.signal);
    const { status, headers } = head = response;
    const text = await readText(response, ending.signal);
    // In process there is no response.url.
    return { status, headers, url: response.url || request.url, text };
  } catch (cause) {
    signal?.throwIfAborted();
    const code = ending.signal.aborted ? "timeout" : "network_error";
    return { code, cause, head };
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Sends a request; rejects once the signal aborts, even where `fetch` does not. */
function send(
  request: Request,
  fetch: ExchangeOptions["fetch"],
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    (async () => await fetch(request))().then((response) => {
      resolve(response);
      // Nobody waits any more: it is let go of unread.
      if (signal.aborted) response.body?.cancel(signal.reason).catch(() => {});
    }, reject);
  });
}

/** Reads a body; `undefined` where it is too long or not UTF-8. The rest is then not read. */
async function readText(
  { body }: Response,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  // How the other side takes it changes nothing: the answer is already known.
  const giveUp = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  // Strict: `response.text()` would put U+FFFD in the place of bytes that are not UTF-8.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    signal.throwIfAborted(); // a read that is given up ends as if the body did
    length += value?.byteLength ?? 0;
    const more = length > MAX_BODY_BYTES ? undefined : decode(decoder, value);
    if (more === undefined) {
      giveUp();
      return undefined;
    }
    text += more;
    if (done) return text;
  }
}

/** Decodes a chunk, or the end; `undefined` where it is not UTF-8. */
function decode(
  decoder: TextDecoder,
  chunk: Uint8Array | undefined,
): string | undefined {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    return undefined;
  }
}

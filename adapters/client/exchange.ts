/** Sends one request and reads its whole response, unless time runs out or the caller aborts. */

import { decodeUtf8, giveUp, Pieces } from "../../core/kit.ts";
import type { ClientCall } from "./calls.ts";
import type { Settings } from "./options.ts";

/** The response to a request, or why there is none. */
export interface Received {
  /** 0 if there is no response, or if a browser hides a redirect. */
  readonly status: number;
  readonly headers: Headers;
  /** The body; `undefined` if it is missing, too long, in too many tiny chunks, or not UTF-8. */
  readonly text?: string | undefined;
  /** Why there is no response, or an incomplete one. */
  readonly fault?: "network_error" | "timeout";
  /** The error of `fetch`. */
  readonly cause?: unknown;
}

/**
 * The longest body that is read, in bytes. A full page of the longest names takes a tenth of this,
 * or a third if every character is escaped.
 */
export const MAX_BODY_BYTES: number = 1024 * 1024;
/** A body in more pieces must have `MIN_PIECE` bytes per piece on average. */
const [MAX_PIECES, MIN_PIECE] = [4096, 64];

/**
 * Sends the request of a call once. The `fetch` may ignore the signal of its request. However the
 * exchange ends, no timer and no listener remains, and the body is either read or cancelled.
 *
 * @throws the reason of `signal` if that aborts.
 */
export async function exchange(
  call: ClientCall<object>,
  { fetch, setTimer, timeout, key }: Settings,
  signal?: AbortSignal,
): Promise<Received> {
  signal?.throwIfAborted();
  // Its own controller, because the caller's signal may outlive many calls and keeps its listeners.
  const ending = new AbortController();
  // Here, so that the timer's function keeps it until the end: on Node 26 the signal reaches the
  // connection through the request. Once that is collected, a server that sends 103s for ever keeps
  // the connection, and 0.4 of a core of this process, after the timeout.
  const request = toRequest(call, key, ending.signal);
  const onAbort = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const cancelTimer = setTimer(timeout, () => {
    ending.abort(new DOMException("It took too long", "TimeoutError"));
  });
  const ended = new Promise<never>((_resolve, reject) => {
    ending.signal.addEventListener("abort", () => reject(ending.signal.reason));
  });
  let head = { status: 0, headers: new Headers() };
  async function receive(): Promise<Received> {
    const response = await fetch(request);
    head = { status: response.status, headers: response.headers };
    return { ...head, text: await readText(response, ending.signal) };
  }
  try {
    // If `fetch` ignores the signal, its response is cancelled when it arrives.
    return await Promise.race([receive(), ended]);
  } catch (cause) {
    signal?.throwIfAborted();
    const fault = ending.signal.aborted ? "timeout" : "network_error";
    return { ...head, fault, cause };
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", onAbort);
  }
}

function toRequest(
  { url, body, idempotencyKey }: ClientCall<object>,
  key: string,
  signal: AbortSignal,
): Request {
  return new Request(url, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json",
      authorization: `Bearer ${key}`,
      ...body !== undefined && { "content-type": "application/json" },
      ...idempotencyKey !== undefined && { "idempotency-key": idempotencyKey },
    },
    // A redirect is not followed, so that the key goes only where baseUrl says, and a POST does not
    // become a GET. "error" would look like a network error, and Cloudflare Workers reject it
    // (src/workerd/api/http.c++).
    redirect: "manual",
    // Not as text: if a kept-alive connection breaks, Deno 2.9's fetch sends text again by itself,
    // even if the service has received it (denoland/deno#35610). Can go if
    // tests/adapters/client/http_test.ts passes with text.
    body: body === undefined ? null : new Blob([body]),
    signal,
  });
}

/**
 * Reads a body; cancels it and returns `undefined` if it is missing, too long, in tiny pieces, or
 * not UTF-8.
 */
async function readText(
  { body }: Response,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (body === null) return undefined;
  const reader = body.getReader();
  if (signal.aborted) giveUp(reader);
  else signal.addEventListener("abort", () => giveUp(reader));
  const pieces = new Pieces(MAX_BODY_BYTES, MAX_PIECES, MIN_PIECE);
  const refusal = await pieces.addAll(reader);
  return refusal === undefined ? decodeUtf8(pieces.bytes) : undefined;
}

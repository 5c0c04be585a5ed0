/** Sends one request and reads its whole response, within a time limit and until the caller aborts. */

import type { ClientCall } from "./calls.ts";
import type { Settings } from "./options.ts";

/** The response to a request, or why there is none. */
export interface Received {
  /** 0 if there is no response, or if a browser hides a redirect. */
  readonly status: number;
  readonly headers: Headers;
  /** The body; `undefined` if it is missing, not UTF-8, or longer than {@linkcode MAX_BODY_BYTES}. */
  readonly text?: string | undefined;
  /** Tells why there is no response, or an incomplete one. */
  readonly fault?: "network_error" | "timeout";
  /** The error of `fetch`. */
  readonly cause?: unknown;
}

/** The longest body that is read. A full page of the longest names is a tenth of it, or a third if all is escaped. */
export const MAX_BODY_BYTES: number = 1024 * 1024;

/**
 * Sends the request of a call once, by a `fetch` that may ignore the signal of its request. However it
 * ends, no timer and no listener remains, and the body is either read or cancelled.
 *
 * @throws the reason of `signal` if that aborts.
 */
export async function exchange(
  call: ClientCall<object>,
  { fetch, setTimer, timeout, key }: Settings,
  signal?: AbortSignal,
): Promise<Received> {
  signal?.throwIfAborted();
  // A controller of its own: the caller's signal may outlive many calls, and keeps its listeners.
  const ending = new AbortController();
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
    const response = await fetch(toRequest(call, key, ending.signal));
    head = { status: response.status, headers: response.headers };
    return { ...head, text: await readText(response, ending.signal) };
  }
  try {
    // If `fetch` ignores the signal, its response is cancelled whenever it comes.
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
    // A redirect is not followed: the key goes where baseUrl says, and a POST does not become a GET.
    // With "error" it would look like a network error, and Cloudflare Workers reject it (src/workerd/api/http.c++).
    redirect: "manual",
    // Not as text: if a connection that was kept alive breaks, Deno 2.9's fetch sends text again by itself, even if
    // the service has it (denoland/deno#35610). Can go if tests/adapters/client/http_test.ts passes with text.
    body: body === undefined ? null : new Blob([body]),
    signal,
  });
}

/** Reads a body; stops and returns `undefined` if it is missing, too long or not UTF-8. */
async function readText(
  { body }: Response,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (body === null) return undefined;
  let length = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      length += chunk.byteLength;
      if (length > MAX_BODY_BYTES) controller.terminate();
      else controller.enqueue(new Uint8Array(chunk));
    },
  });
  // A pipe cancels the body if its signal aborts, or if it is too long.
  const limited = new Response(body.pipeThrough(limit, { signal }));
  const bytes = await limited.arrayBuffer();
  if (length > MAX_BODY_BYTES) return undefined;
  try {
    // `response.text()` would replace bytes that are not UTF-8 with U+FFFD.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** One request and its complete response, within a time limit and until the caller aborts. */

import type { Settings } from "./options.ts";

/** Status and headers of a response. The status is 0 if a browser hides a redirect. */
export type Head = Pick<Response, "status" | "headers">;

export interface Answer extends Head {
  /** Its full address: relative references resolve against it. */
  readonly url: string;
  /** The body; `undefined` if it is not UTF-8, or longer than {@linkcode MAX_BODY_BYTES}. */
  readonly text: string | undefined;
}

/** No response, or an incomplete one. */
export interface Fault {
  readonly code: "network_error" | "timeout";
  readonly cause: unknown;
  readonly head: Head | undefined;
}

/** The longest body that is read. A full page of the longest names is a tenth of it. */
export const MAX_BODY_BYTES: number = 4 * 1024 * 1024;

/**
 * Sends a request once, by a `fetch` that may ignore the signal of its request. However it ends, no
 * timer and no listener remains, and the body is either read or cancelled.
 *
 * @throws the reason of `signal` if that aborts.
 */
export async function exchange(
  url: string,
  init: RequestInit,
  { fetch, clock, timeout, signal }: Settings & {
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Answer | Fault> {
  signal?.throwIfAborted();
  // A controller of its own: the caller's signal may outlive many calls, and keeps its listeners.
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
    // A response made in process has no URL.
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

/** Sends a request; rejects once the signal aborts, even if `fetch` does not. */
function send(
  request: Request,
  fetch: Settings["fetch"],
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    (async () => await fetch(request))().then((response) => {
      resolve(response);
      // Nobody waits for it any more.
      if (signal.aborted) response.body?.cancel(signal.reason).catch(() => {});
    }, reject);
  });
}

/** Reads a body; stops and returns `undefined` if it is too long or not UTF-8. */
async function readText(
  { body }: Response,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (body === null) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  // The result is already known: it does not matter if cancelling fails.
  const giveUp = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  // `response.text()` would replace bytes that are not UTF-8 with U+FFFD.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let length = 0;;) {
    const { done, value } = await reader.read();
    signal.throwIfAborted(); // cancelling looks like the end of the body
    length += value?.byteLength ?? 0;
    try {
      if (length > MAX_BODY_BYTES) throw new RangeError("The body is too long");
      text += decoder.decode(value, { stream: !done });
    } catch {
      giveUp();
      return undefined;
    }
    if (done) return text;
  }
}

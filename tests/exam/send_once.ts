/** Sends one HTTP request exactly once, and tells exactly what came back. */

import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";

/** A request. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came of a request. */
export interface Received {
  /** 0 if no whole header came. */
  readonly status: number;
  /** By lower-case name; the values of a repeated field are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as far as it came. */
  readonly text: string;
  /**
   * What is missing: nothing listens, the connection failed before the header or within the body,
   * or the time was up.
   */
  readonly problem?: "refused" | "lost" | "cut" | "late";
}

/** Limits of the time to wait, in ms; `Infinity` for none. */
export interface Patience {
  /** For the whole answer. */
  readonly whole: number;
  /** For the next byte. */
  readonly byte: number;
}

/**
 * Sends a request on a connection of its own, and follows no redirect. It never rejects. `fetch`
 * would do for neither: runtimes resend by it, and cannot tell which part of a body came.
 */
export function sendOnce(
  { method, url, headers, body = "" }: Sent,
  { whole, byte }: Patience,
  signal?: AbortSignal,
): Promise<Received> {
  return new Promise((resolve) => {
    let status = 0;
    let fields: Received["headers"] = {};
    let problem: Received["problem"] = "lost";
    const chunks: Uint8Array[] = [];
    const request = url.startsWith("https:") ? overHttps : overHttp;
    const content = body === ""
      ? {}
      : { "content-length": `${new TextEncoder().encode(body).byteLength}` };
    const sent = request(url, {
      method,
      headers: { ...headers, ...content },
      agent: false,
    });

    const deadline = start(whole);
    let pause = start(byte);
    function start(ms: number): ReturnType<typeof setTimeout> | undefined {
      return ms === Infinity ? undefined : setTimeout(end, ms, "late");
    }
    function progress(): void {
      clearTimeout(pause);
      pause = start(byte);
    }
    function end(why: Received["problem"]): void {
      clearTimeout(deadline);
      clearTimeout(pause);
      signal?.removeEventListener("abort", abort);
      sent.destroy();
      const bytes = new Uint8Array(
        chunks.reduce((sum, { byteLength }) => sum + byteLength, 0),
      );
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.byteLength;
      }
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      const received = { status, headers: fields, text };
      resolve(why === undefined ? received : { ...received, problem: why });
    }
    const abort = (): void => end(problem);
    signal?.addEventListener("abort", abort);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // On Bun the code is its own word.
      const isRefused = /ECONNREFUSED|ConnectionRefused/.test(`${error.code}`);
      end(isRefused ? "refused" : problem);
    });
    sent.on("response", (response: IncomingMessage) => {
      status = response.statusCode ?? 0;
      fields = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [
          name,
          [value].flat().join(", "),
        ]),
      );
      problem = "cut";
      progress();
      response.on("data", (chunk: Uint8Array) => {
        chunks.push(chunk);
        progress();
      });
      response.on("error", () => {}); // then it is closed
      response.on(
        "close",
        () => end(response.complete ? undefined : problem),
      );
    });
    // After `on("error")`: what is destroyed before its end emits an error.
    if (signal?.aborted) return abort();
    sent.end(body);
  });
}

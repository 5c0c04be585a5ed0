/** What runtimes do that the core must know: the only file of the core that names one. */

/**
 * Refuses a runtime that is too old.
 *
 * @throws {Error} if this runtime lacks `URL.parse` or `Promise.withResolvers`, as Node 20 does.
 */
export function checkRuntime(): void {
  if ("parse" in URL && "withResolvers" in Promise) return;
  throw new Error(
    "This runtime is too old: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 126, Firefox 126 or Safari 18",
  );
}

/**
 * The path and the query of `request.url`. Bun 1.4 omits the origin if there is no `Host`
 * (oven-sh/bun#33721); Deno 2.9 builds it from the `Host`, so a `/` there would change the path
 * (denoland/deno#29872): `parseTarget` checks that first.
 */
export const URL_PARTS: RegExp =
  /^(?:[^/?#]+:\/\/[^/?#]*)?(\/[^?#]*)(?:\?([^#]*))?/;

/**
 * Tells whether a `Transfer-Encoding` is understood. Deno 2.9 and Node 26 decode only the `chunked`
 * of `gzip, chunked`, and would pass on the gzip as the body. Node 22 ignores an empty field beside
 * a length. Bun 1.4 answers 400 by itself (oven-sh/bun#35295): this can go if the others do so too.
 */
export function isChunked(transferEncoding: string): boolean {
  return /^chunked$/i.test(transferEncoding);
}

/**
 * A body in more pieces than this must have `MIN_PIECE` bytes per piece on average, because a tiny
 * piece costs as much as a large one: Deno 2.9 allocates 64 KiB for each (`DEFAULT_CHUNK_SIZE` in
 * its ext/web/06_streams.js). This can go on Deno if tests/lab/faults/pieces_fault.ts passes
 * without it.
 */
export const MAX_PIECES = 256;
export const MIN_PIECE = 256;

/**
 * Tells whether the value of a header field can be sent (RFC 9110 §5.5). `Headers` accepts control
 * characters, but Deno 2.9 ends the process when it sends one: its HTTP/1.1 writer
 * (denoland/deno#34446) asserts that there is none. On Deno this check can go if
 * tests/adapters/http/fetch_server_test.ts passes when this returns true.
 */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/**
 * A body that arrived with the header can be read after this many microtasks, so it needs no timer:
 * 2 on Deno 2.9, 1 on Node 22 and 26; on Bun 1.4 it mostly arrives later. A timer costs a create on
 * Deno a fifth of its processor time. If the number is too low, a needless timer is set, no more.
 */
export const MICROTASKS = 3;

/**
 * An option of `Response`, without which Cloudflare Workers compress a body that has a
 * `Content-Encoding` again (Runtime APIs, Response, `encodeBody`; cloudflare/workerd#7066). Tested
 * by tests/lab/workers/worker_slow.ts.
 */
export const ENCODE_BODY = "manual";

/**
 * Makes the error for a value that is no `Request`. A likely mistake on Node: `app.use("/v1", handle)`
 * passes Node's own object.
 */
export function notRequest(): TypeError {
  return new TypeError(
    "Cannot handle this request: it must be a Request; on Node, mount toNodeListener(handle)",
  );
}

/**
 * Content that does not change while the process lives, and clients that have it already.
 *
 * @module
 */

import type { Reply } from "./reply.ts";

/** Answers with a content, or with 304. */
export type StaticReply = (
  request: { readonly headers: Pick<Headers, "get"> },
) => Promise<Reply>;

/**
 * Makes a stage that answers 200 with a content and its `ETag`, or 304 if the client has it. The
 * content and its tag are made on first use, not here: some runtimes forbid hashing while a module
 * loads.
 *
 * @param headers the fields of the 200 beside `ETag` and `X-Content-Type-Options`.
 */
export function staticReply(
  content: () => string,
  headers: Readonly<Record<string, string>>,
): StaticReply {
  let making: Promise<Reply & { readonly etag: string }> | undefined;

  async function make(): Promise<Reply & { readonly etag: string }> {
    const body = content();
    const etag = await strongETag(new TextEncoder().encode(body));
    return {
      status: 200,
      headers: Object.freeze({
        ...headers,
        "x-content-type-options": "nosniff",
        etag,
      }),
      body,
      etag,
    };
  }

  return async function reply(request) {
    making ??= make().catch((cause) => {
      making = undefined; // the next request tries again
      throw cause;
    });
    const whole = await making;
    return matchesETag(request.headers.get("if-none-match"), whole.etag)
      ? notModified(whole.headers)
      : whole;
  };
}

/** A strong entity tag (RFC 9110 §8.8.3): the same bytes, and no others, have it. */
export async function strongETag(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  const half = new Uint8Array(digest, 0, 16);
  return `"${
    Array.from(half, (byte) => byte.toString(16).padStart(2, "0")).join("")
  }"`;
}

/**
 * Whether `If-None-Match` says that the client has what `etag` names: `*`, or a list that has the
 * same opaque tag, weak or strong (RFC 9110 §13.1.2). A field that is neither says nothing.
 */
export function matchesETag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  // A tag may have commas in it: the list is read tag by tag, not split.
  const list = /^[\t ,]*(?:(?:W\/)?"[^"]*"[\t ]*(?:,[\t ,]*|$))+$/;
  if (!list.test(ifNoneMatch)) return false;
  const opaqueTags: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return opaqueTags.includes(etag.replace(/^W\//, ""));
}

/** A 304 has the fields of the 200 that say how to store it (RFC 9110 §15.4.5), and no others. */
function notModified(headers: Readonly<Record<string, string>>): Reply {
  const kept = ["etag", "cache-control", "vary"];
  return {
    status: 304,
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => kept.includes(name)),
    ),
    body: null,
  };
}

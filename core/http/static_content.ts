/** Content that does not change while the process lives, with `ETag` and 304. */

import type { Fields, Service } from "./message.ts";
import { sha256 } from "../sha256.ts";

/** Bytes, because a text would be encoded for each request. */
export type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Answers 200 with a content, these fields and an `ETag`, or 304 if the client has it. Both are made on first
 * use, because some runtimes forbid hashing while a module loads. Addresses have no version, so clients have
 * to ask each time.
 */
export function staticContent(
  content: () => Bytes | Promise<Bytes>,
  headers: Fields,
): Service {
  let making: ReturnType<typeof make> | undefined;

  async function make() {
    const body = await content();
    // A strong entity tag (RFC 9110 §8.8.3): no other content has it.
    const etag = `"${(await sha256(body)).slice(0, 32)}"`;
    // The 304 has the fields that say how to store it, and no others (RFC 9110 §15.4.5).
    const few = { "cache-control": "no-cache", etag };
    const all = { ...headers, "x-content-type-options": "nosniff", ...few };
    return {
      etag,
      whole: { status: 200, headers: Object.freeze(all), body },
      notModified: { status: 304, headers: Object.freeze(few), body: null },
    };
  }

  return async (request) => {
    making ??= make().catch((cause) => {
      making = undefined; // the next request tries again
      throw cause;
    });
    const { etag, whole, notModified } = await making;
    // `*`, or a list of tags, weak or strong (RFC 9110 §13.1.2).
    const known = request.headers.get("if-none-match");
    return known?.trim() === "*" || known?.includes(etag) ? notModified : whole;
  };
}

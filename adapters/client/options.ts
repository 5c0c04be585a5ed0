/**
 * What a client is made of.
 *
 * @module
 */

import { isSendable } from "../../core/keys/api_keys.ts";
import { type BaseUrl, parseBaseUrl } from "./base_url.ts";
import { type Clock, systemClock } from "./clock.ts";

/** Settings of {@linkcode createClient}. */
export interface ClientOptions {
  /** The base address of the service, `https://api.example.com/v1`; a `/` at its end changes nothing. */
  readonly baseUrl: string;
  /** The API key. It is sent to the origin of `baseUrl` and nowhere else. */
  readonly key: string;
  /**
   * Sends a request: `handle` itself, or a fetch with a proxy. It must not follow redirects that the
   * request says not to follow. Default: the global `fetch`.
   */
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  /** How long one attempt may take until its response is read, in ms: 1 to 2147483647. Default: 10000. */
  readonly timeout?: number;
  /** How often a call that failed may be tried again: 0 to 10. Default: 3. */
  readonly retries?: number;
  /** The time, for tests. Default: the clock on the wall. */
  readonly clock?: Clock;
  /** From 0 to below 1, to vary the pauses. Default: `Math.random`. */
  readonly random?: () => number;
}

/** The options, checked, with their defaults. */
export interface Settings
  extends BaseUrl, Required<Omit<ClientOptions, "baseUrl">> {}

/**
 * Checks the options and fills in their defaults.
 *
 * @throws {TypeError} where one is of a wrong kind.
 * @throws {RangeError} where a number is out of bounds.
 */
export function readOptions(options: ClientOptions): Settings {
  const {
    key,
    fetch = (request) => globalThis.fetch(request),
    timeout = 10_000,
    retries = 3,
    clock = systemClock,
    random = Math.random,
  } = options;
  const base = parseBaseUrl(options.baseUrl);
  if (typeof key !== "string" || !isSendable(key)) {
    throw new TypeError(
      "Wrong option key: it must be one or more visible ASCII characters without spaces",
    );
  }
  if (typeof fetch !== "function") {
    throw new TypeError(
      `Wrong option fetch: it must be a function, not ${typeof fetch}`,
    );
  }
  checkRange(timeout, { min: 1, max: 2 ** 31 - 1, name: "timeout" }); // a longer timer fires at once
  checkRange(retries, { min: 0, max: 10, name: "retries" });
  return { ...base, key, fetch, timeout, retries, clock, random };
}

function checkRange(
  value: number,
  { min, max, name }: { min: number; max: number; name: string },
): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(
    `Wrong option ${name}: it must be an integer from ${min} to ${max}, not ${value}`,
  );
}

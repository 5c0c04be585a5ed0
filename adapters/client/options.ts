/** The options of a client, and a check of where its key may be sent. */

import {
  checkFunction,
  checkIntegers,
  checkNames,
  checkRuntime,
  isSendable,
  MAX_TIME,
} from "../../core/kit.ts";

/** Settings of `createClient`. */
export interface ClientOptions {
  /**
   * The base address of the service, such as `https://api.example.com/v1`. A final `/` is ignored.
   */
  readonly baseUrl: string;
  /** The API key. It is sent to the origin of `baseUrl` and nowhere else. */
  readonly key: string;
  /**
   * Sends a request, for example a handler in process or a fetch through a proxy. It must obey the
   * request's `redirect`. Default: the global `fetch`.
   *
   * @example Call a service in process
   * ```ts
   * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
   * import { createClient } from "@petstore/service/client";
   * import assert from "node:assert/strict";
   *
   * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
   * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch: handle });
   * assert.deepEqual((await client.listPets()).pets, []);
   * ```
   */
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  /**
   * How long one attempt may take until its response is read, in ms: 1 to 2147483647. Default:
   * 10000.
   *
   * @example Give up after 50 ms
   * ```ts
   * import { createClient } from "@petstore/service/client";
   * import assert from "node:assert/strict";
   *
   * const fetch = () => new Promise<Response>(() => {}); // nobody answers
   * const options = { baseUrl: "http://localhost/v1", key: "secret", fetch, retries: 0 };
   * const client = createClient({ ...options, timeout: 50 });
   * await assert.rejects(client.listPets(), { code: "timeout" });
   * ```
   */
  readonly timeout?: number;
  /**
   * How often a failed call is retried: 0 to 10. Default: 3.
   *
   * @example Retry once
   * ```ts
   * import { createClient } from "@petstore/service/client";
   * import assert from "node:assert/strict";
   *
   * let calls = 0;
   * function fetch(): Response {
   *   calls++;
   *   return new Response("Bad Gateway", { status: 502 });
   * }
   * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch, retries: 1 });
   * await assert.rejects(client.listPets(), { code: "http_error", status: 502 });
   * assert.equal(calls, 2);
   * ```
   */
  readonly retries?: number;
  /**
   * If true, each `createPet` sends its own `Idempotency-Key`, and is retried like a read. A
   * service that ignores the key may then add the pet twice. If false, a create is retried only
   * after a 503 with `Retry-After` by the service itself: then nothing was changed. Default: true.
   *
   * @example Send each create once
   * ```ts
   * import { createClient } from "@petstore/service/client";
   * import assert from "node:assert/strict";
   *
   * const keys: (string | null)[] = [];
   * function fetch({ headers }: Request): Response {
   *   keys.push(headers.get("idempotency-key"));
   *   return new Response("Gateway Timeout", { status: 504 });
   * }
   * const options = { baseUrl: "http://localhost/v1", key: "secret", fetch, retries: 1 };
   * const client = createClient({ ...options, idempotentCreates: false });
   * const create = client.createPet({ name: "Rex", categoryId: 1n });
   * await assert.rejects(create, { code: "http_error", uncertain: true });
   * assert.deepEqual(keys, [null]); // it was sent once
   * ```
   */
  readonly idempotentCreates?: boolean;
}

/**
 * The checked options with their defaults, and the clock and random numbers, which tests replace.
 */
export interface Settings extends Required<Omit<ClientOptions, "baseUrl">> {
  /** The base address, without a `/` at its end. */
  readonly base: string;
  /** The only origin that the key is sent to. */
  readonly origin: string;
  /** The time in ms since 1970. */
  readonly now: () => number;
  /** Calls back once, `ms` ms from now. Returns a function that cancels it. */
  readonly setTimer: (ms: number, callback: () => void) => () => void;
  /** Returns a number from 0 to below 1, to vary the pauses. */
  readonly random: () => number;
}

/** Checks the options and fills in their defaults. Throws as `createClient` does. */
export function readOptions(options: ClientOptions): Settings {
  checkRuntime();
  const {
    baseUrl,
    key,
    fetch = (request) => globalThis.fetch(request),
    timeout = 10_000,
    retries = 3,
    idempotentCreates = true,
  } = Object(options) as ClientOptions;
  const others = { key, fetch, timeout, retries, idempotentCreates };
  checkNames(options, ["baseUrl", ...Object.keys(others)], "createClient");
  const url = typeof baseUrl === "string" ? URL.parse(baseUrl) : null;
  if (
    url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(baseUrl) ||
    !isOn(url, url.origin)
  ) {
    // The value is not shown, because it may contain a password or the key.
    throw new TypeError(
      'Wrong option baseUrl: it must be a string, an absolute http or https URL without user, query and fragment, such as "https://api.example.com/v1"',
    );
  }
  if (!isSendable(key)) {
    throw new TypeError(
      "Wrong option key: it must be a non-empty string of visible ASCII characters, without spaces",
    );
  }
  checkFunction(fetch, "fetch");
  checkIntegers({ timeout }, 1, MAX_TIME);
  checkIntegers({ retries }, 0, 10);
  return {
    ...others,
    base: url.href.replace(/\/$/, ""),
    origin: url.origin,
    now: Date.now,
    setTimer(ms, callback) {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    random: Math.random,
  };
}

/** Tells whether the key may be sent to a URL. `fetch` refuses URLs with a user. */
export function isOn(url: URL, origin: string): boolean {
  return url.origin === origin && url.username === "" && url.password === "";
}

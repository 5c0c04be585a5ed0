/** The error that a call of the client rejects with. */

import type { ErrorCode } from "../../core/kit.ts";

/**
 * The codes that this version of the client knows: those of the service, and four for failures on
 * the way to it.
 *
 * @example What gets each code
 * ```ts
 * import { apiKeys, createHandler, memoryStorage, StorageError } from "@petstore/service";
 * import { type Client, createClient, type PetStoreErrorCode } from "@petstore/service/client";
 * import assert from "node:assert/strict";
 *
 * const storage = memoryStorage();
 * const service = { storage, keys: apiKeys(["secret"]), bodyTimeout: 50, onError() {} };
 * const handle = createHandler(service);
 * const rex = { name: "Rex", categoryId: 1n };
 *
 * // A client of the service, or of what is in its place.
 * function to(
 *   fetch: (request: Request) => Response | Promise<Response>,
 *   options: { key?: string; timeout?: number } = {},
 * ): Client {
 *   const usual = { baseUrl: "http://localhost/v1", key: "secret", fetch, retries: 0 };
 *   return createClient({ ...usual, ...options });
 * }
 *
 * // A client of a service whose storage fails.
 * function failing(fault: Error): Client {
 *   const list = () => Promise.reject(fault);
 *   return to(createHandler({ ...service, storage: { ...storage, list } }));
 * }
 *
 * // A client whose requests are changed on their way.
 * function changed(init: object): Client {
 *   return to((request) => handle(new Request(request, init)));
 * }
 *
 * const headers = { authorization: "Bearer secret", "idempotency-key": "a" };
 * const sameKey = changed({ headers });
 * await sameKey.createPet(rex);
 *
 * const failures: Record<PetStoreErrorCode, () => Promise<unknown>> = {
 *   bad_request: () => to(handle).createPet({ ...rex, name: "" }),
 *   unauthorized: () => to(handle, { key: "wrong" }).listPets(),
 *   not_found: () => to(handle).getPet(7n),
 *   method_not_allowed: () => changed({ method: "PUT" }).listPets(),
 *   request_timeout: () => changed({ body: new ReadableStream(), duplex: "half" }).createPet(rex),
 *   payload_too_large: () => to(createHandler({ ...service, maxBodyBytes: 9 })).createPet(rex),
 *   unsupported_media_type: () =>
 *     changed({ headers: { ...headers, "content-type": "text/plain" } }).createPet(rex),
 *   idempotency_key_reused: () => sameKey.createPet({ ...rex, name: "Tom" }),
 *   too_many_requests: () =>
 *     to(createHandler({ ...service, rateLimit: () => ({ allowed: false }) })).listPets(),
 *   internal_error: () => failing(new Error("It is broken")).listPets(),
 *   service_unavailable: () => failing(new StorageError("unavailable", "It is locked")).listPets(),
 *   network_error: () => to(() => Promise.reject(new TypeError("No route"))).listPets(),
 *   timeout: () => to(() => new Promise(() => {}), { timeout: 50 }).listPets(),
 *   http_error: () => to(() => new Response("Bad Gateway", { status: 502 })).listPets(),
 *   invalid_response: () => to(() => Response.json({})).listPets(),
 * };
 * for (const [code, fail] of Object.entries(failures)) {
 *   await assert.rejects(fail, { name: "PetStoreError", code });
 * }
 * ```
 */
export type PetStoreErrorCode =
  | ErrorCode
  /** No response, or it broke off. */
  | "network_error"
  /** No complete response within the client's `timeout`. */
  | "timeout"
  /** An error status or redirect from a proxy or another server. */
  | "http_error"
  /** A success status with a response that breaks the contract. */
  | "invalid_response";

/**
 * A {@linkcode PetStoreError} that narrows by its `code`, which is the type that
 * `instanceof PetStoreError` gives. In a `switch` an unknown code goes to `default`.
 */
export type AnyPetStoreError =
  | (PetStoreError & {
    readonly code: Exclude<PetStoreErrorCode, ErrorCode | "invalid_response">;
  })
  | (PetStoreError & {
    readonly code: ErrorCode | "invalid_response";
    readonly status: number;
  })
  | (PetStoreError & { readonly status: number });

/**
 * A call that failed, for any reason except the caller's own `AbortSignal` or a wrong argument.
 *
 * @example Recognise one code
 * ```ts
 * import { PetStoreError } from "@petstore/service/client";
 *
 * const isMissing = (error: unknown) => error instanceof PetStoreError && error.code === "not_found";
 * ```
 */
export class PetStoreError extends Error {
  /** Makes `instanceof` narrow by `code`. It exists only as a type. */
  declare static readonly [Symbol.hasInstance]: (
    value: unknown,
  ) => value is AnyPetStoreError;

  /** Machine-readable and stable, unlike messages: a {@linkcode PetStoreErrorCode} or a new one. */
  readonly code: string;
  /** The HTTP status code of the response; `undefined` without a response. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`, by which an operator finds the request in the log. */
  readonly requestId: string | undefined;
  /** How long to wait before retrying (`Retry-After`), in ms. */
  readonly retryAfter: number | undefined;
  /**
   * True if the pet may have been added: list the pets before you send it again. Always false for
   * calls that only read.
   */
  readonly uncertain: boolean;

  /** Makes the error from its `code` and what else is known. */
  constructor(
    message: string,
    details: Pick<PetStoreError, "code"> & Partial<PetStoreError>,
  ) {
    super(message, details.cause === undefined ? undefined : details);
    this.name = "PetStoreError";
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.uncertain = details.uncertain ?? false;
  }
}

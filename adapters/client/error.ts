/** The error that a call of the client rejects with. */

import type { ErrorCode } from "../../core/http/refusal.ts";

/**
 * The codes that this version of the client knows: those of the service, and four for what happens on
 * the way to it.
 *
 * @example
 * ```ts
 * import type { PetStoreErrorCode } from "@petstore/service/client";
 *
 * const worthTryingLater: readonly PetStoreErrorCode[] = ["timeout", "service_unavailable"];
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
 * A {@linkcode PetStoreError} that narrows by its `code`, as `instanceof` finds it. An unknown code gets
 * to the `default` of a `switch`.
 *
 * @example
 * ```ts
 * import type { AnyPetStoreError, PetStoreError } from "@petstore/service/client";
 *
 * function explain(error: AnyPetStoreError): string {
 *   switch (error.code) {
 *     case "timeout":
 *     case "network_error":
 *       return `Try again later (status ${error.status ?? "unknown"})`;
 *     case "not_found":
 *       return `No such pet (status ${error.status.toFixed()})`; // the service always sends one
 *     default:
 *       return (error satisfies PetStoreError).message;
 *   }
 * }
 * ```
 */
export type AnyPetStoreError =
  | {
    [Code in PetStoreErrorCode]:
      & PetStoreError
      & { readonly code: Code }
      & (Code extends ErrorCode | "invalid_response"
        ? { readonly status: number }
        : unknown);
  }[PetStoreErrorCode]
  | (PetStoreError & { readonly status: number });

/**
 * What is known about a failure: see {@linkcode PetStoreError}.
 *
 * @example
 * ```ts
 * import { PetStoreError, type PetStoreErrorDetails } from "@petstore/service/client";
 *
 * const details: PetStoreErrorDetails = { code: "timeout", uncertain: true };
 * const error = new PetStoreError("Cannot create pet", details); // for a test that has no service
 * ```
 */
export interface PetStoreErrorDetails extends
  Partial<
    Pick<PetStoreError, "status" | "requestId" | "retryAfter" | "uncertain">
  > {
  /** See {@linkcode PetStoreError.code}. */
  readonly code: PetStoreErrorCode | (string & Record<never, never>);
  /** The underlying error. */
  readonly cause?: unknown;
}

/**
 * A call that failed, for any reason but the caller's own `AbortSignal` or a wrong argument.
 *
 * @example
 * ```ts
 * import { createClient, PetStoreError } from "@petstore/service/client";
 * import assert from "node:assert/strict";
 *
 * const fetch = () => Response.json({ code: "not_found", message: "No such pet", status: 404 }, { status: 404 });
 * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch });
 * try {
 *   await client.getPet(7n);
 * } catch (error) {
 *   if (!(error instanceof PetStoreError) || error.code !== "not_found") throw error;
 *   assert.equal(error.status.toFixed(), "404"); // a `number`: `undefined` is ruled out by the code
 * }
 * ```
 */
export class PetStoreError extends Error {
  /** Lets `instanceof` find the union that narrows by `code`. It exists in types alone. */
  declare static readonly [Symbol.hasInstance]: (
    value: unknown,
  ) => value is AnyPetStoreError;

  /** Machine-readable and stable, while messages may improve: a {@linkcode PetStoreErrorCode} or a new one. */
  readonly code: string;
  /** The HTTP status code of the response; `undefined` without a response. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`, by which an operator finds the request in the log. */
  readonly requestId: string | undefined;
  /** How long to wait before trying again (`Retry-After`), in ms. */
  readonly retryAfter: number | undefined;
  /**
   * Whether the pet may have been added all the same: list the pets before sending it again. Always
   * false for calls that only read.
   */
  readonly uncertain: boolean;

  /** Makes the error. */
  constructor(message: string, { cause, ...details }: PetStoreErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PetStoreError";
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.uncertain = details.uncertain ?? false;
  }
}

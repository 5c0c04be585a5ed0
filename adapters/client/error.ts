/** The error that a call of the client rejects with. */

import type { ErrorCode } from "../../core/http/refusal.ts";

/**
 * The codes that this version of the client knows: those of the service, and four for what happens on
 * the way to it.
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
 * A call that failed, for any reason but the caller's own `AbortSignal` or a wrong argument.
 *
 * @example
 * ```ts
 * import { PetStoreError } from "@petstore/service/client";
 * const isMissing = (error: unknown) => error instanceof PetStoreError && error.code === "not_found";
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
  /** Time to wait before trying again (`Retry-After`), in ms. */
  readonly retryAfter: number | undefined;
  /**
   * True if the pet may have been added all the same: list the pets before sending it again. Always
   * false for calls that only read.
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

/**
 * What a call of the client rejects with.
 *
 * @module
 */

import type { ErrorCode } from "../../core/http/refusal.ts";

/** Why a call failed: the service's own codes, and four for what happens on the way to it. */
export type PetStoreErrorCode =
  | ErrorCode
  /** No response came, or it broke off. */
  | "network_error"
  /** No whole response came within the client's `timeout`. */
  | "timeout"
  /** An error status or a redirect that is not the service's own: a proxy's, or another server's. */
  | "http_error"
  /** A status of success, but what came with it is not what the contract says. */
  | "invalid_response";

/** What is known about a failure. */
export interface PetStoreErrorDetails {
  /** See {@linkcode PetStoreError.code}. */
  readonly code: PetStoreErrorCode;
  /** See {@linkcode PetStoreError.status}. */
  readonly status?: number | undefined;
  /** See {@linkcode PetStoreError.requestId}. */
  readonly requestId?: string | undefined;
  /** See {@linkcode PetStoreError.retryAfter}. */
  readonly retryAfter?: number | undefined;
  /** See {@linkcode PetStoreError.uncertain}. */
  readonly uncertain?: boolean;
  /** The error underneath, where there is one. */
  readonly cause?: unknown;
}

/** A call that failed, for whatever reason but the caller's own `AbortSignal` or a wrong argument. */
export class PetStoreError extends Error {
  /** Machine-readable and stable, while messages may improve. */
  readonly code: PetStoreErrorCode;
  /** The HTTP status code of the response; `undefined` where there was none. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`, by which the service's operator finds it in the log. */
  readonly requestId: string | undefined;
  /** How long the response asks to wait before trying again (`Retry-After`), in ms. */
  readonly retryAfter: number | undefined;
  /**
   * Whether the animal may have been added all the same: list the pets before sending it again.
   * Always false for calls that only read.
   */
  readonly uncertain: boolean;

  /** Makes the error. */
  constructor(message: string, details: PetStoreErrorDetails) {
    const { code, status, requestId, retryAfter, uncertain = false } = details;
    super(
      message,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.name = "PetStoreError";
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.uncertain = uncertain;
  }
}

/**
 * The error that a call of the client rejects with.
 *
 * @module
 */

import type { ErrorCode } from "../../core/http/refusal.ts";

/**
 * Why a call failed: a code of the service, or one of four for what happens on the way to it. A later
 * version of the service may have other codes: they arrive as they are.
 */
export type PetStoreErrorCode =
  | ErrorCode
  /** No response came, or it broke off. */
  | "network_error"
  /** No whole response came within the client's `timeout`. */
  | "timeout"
  /** An error status or a redirect that is not the service's own: a proxy's, or another server's. */
  | "http_error"
  /** A status of success, but what came with it is not what the contract says. */
  | "invalid_response"
  | (string & Record<never, never>);

/** What is known about a failure. */
export type PetStoreErrorDetails =
  & Pick<PetStoreError, "code">
  & Partial<
    Pick<
      PetStoreError,
      "status" | "requestId" | "retryAfter" | "uncertain" | "cause"
    >
  >;

/** A call that failed, for any reason but the caller's own `AbortSignal` or a wrong argument. */
export class PetStoreError extends Error {
  /** Machine-readable and stable, while messages may improve. */
  readonly code: PetStoreErrorCode;
  /** The HTTP status code of the response, if one came. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`, by which the service's operator finds it in the log. */
  readonly requestId: string | undefined;
  /** How long the response asks to wait before trying again (`Retry-After`), in ms. */
  readonly retryAfter: number | undefined;
  /**
   * Whether the pet may have been added all the same: list the pets before you create it again.
   * Always false for calls that only read.
   */
  readonly uncertain: boolean;

  /** Makes the error. */
  constructor(message: string, details: PetStoreErrorDetails) {
    const { cause, uncertain = false } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PetStoreError";
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.uncertain = uncertain;
  }
}

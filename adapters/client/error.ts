/** The error that a call of the client rejects with. */

import type { ErrorCode } from "../../core/http/refusal.ts";

/**
 * Why a call failed: a code of the service, or one of four for what happens on the way to it. A later
 * version of the service may have other codes: they arrive as they are.
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
  | "invalid_response"
  | (string & Record<never, never>);

/** What is known about a failure: see {@linkcode PetStoreError}. */
export interface PetStoreErrorDetails extends
  Partial<
    Pick<PetStoreError, "status" | "requestId" | "retryAfter" | "uncertain">
  > {
  /** See {@linkcode PetStoreError.code}. */
  readonly code: PetStoreErrorCode;
  /** The underlying error. */
  readonly cause?: unknown;
}

/** A call that failed, for any reason but the caller's own `AbortSignal` or a wrong argument. */
export class PetStoreError extends Error {
  /** Machine-readable and stable, while messages may improve. */
  readonly code: PetStoreErrorCode;
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

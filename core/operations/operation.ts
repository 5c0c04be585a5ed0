/**
 * The operations of the service, each a row for the router, the pipeline and the OpenAPI document.
 */

import type { BaseUrl } from "../http/base_url.ts";
import type { BodyLimits } from "../http/body.ts";
import type {
  Answer,
  Fields,
  Service,
  ServiceRequest,
} from "../http/message.ts";
import type { Route } from "../http/router.ts";
import type { DescribedOperation } from "../openapi/document.ts";
import type { PetStorage } from "../pets/pet_storage.ts";

/** One request, routed and authenticated. */
export interface Call {
  readonly request: ServiceRequest;
  /** The raw query, without its `?`. */
  readonly query: string;
  /**
   * The parameter at the end of the path, such as a pet's id, as it was sent; empty if the path has
   * none.
   */
  readonly parameter: string;
  /** The valid API key; empty if the endpoint is public. */
  readonly apiKey: string;
}

/** State shared by all requests. */
export interface Context extends BodyLimits {
  readonly storage: PetStorage;
  readonly baseUrl: BaseUrl;
  /** Answers with the OpenAPI document, or with 304. */
  readonly document: Service;
}

/** A route at its full path, and what it does. */
export interface Endpoint extends Route {
  /** If true, it needs no API key. */
  readonly isPublic?: boolean | undefined;
  /** Header fields of all its responses, including errors. */
  readonly fields?: Fields | undefined;
  /** Answers a call. Rejects only with unexpected errors. */
  readonly run: (call: Call) => Promise<Answer>;
}

/** An operation of the contract: an endpoint below any base address. */
export interface Operation extends DescribedOperation {
  readonly fields?: (baseUrl: BaseUrl) => Fields;
  readonly run: (call: Call, context: Context) => Promise<Answer>;
}

/** The errors of every operation that needs a key and asks the storage. */
export const COMMON_ERRORS = [
  "bad_request",
  "unauthorized",
  "too_many_requests",
  "internal_error",
  "service_unavailable",
] as const;

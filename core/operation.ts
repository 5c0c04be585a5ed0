/**
 * An operation of the service, as data for the router, the pipeline and the OpenAPI document.
 */

import type { BaseUrl } from "./http/base_url.ts";
import type {
  Answer,
  BodyLimits,
  Fields,
  ReadBody,
  ServiceRequest,
} from "./answer.ts";
import type { StaticContent } from "../adapters/http/static_content.ts";
import type { DescribedOperation } from "./openapi/document.ts";
import type { PetStorage } from "./pets/pet_storage.ts";

/** One request, routed and authenticated. */
export interface Call {
  /** The request, whose method and path are known. */
  readonly request: ServiceRequest;
  /** The raw query, without its `?`. */
  readonly query: string;
  /**
   * The parameter at the end of the path, such as a pet's id, as the router got it (unreserved
   * characters are decoded); empty if the path has none.
   */
  readonly parameter: string;
  /**
   * To whom an `Idempotency-Key` belongs: the valid API key, or the caller if `verify` named one;
   * empty if the endpoint is public. It may be secret.
   */
  readonly scope: string;
  /** Reads the body of the request. */
  readonly readBody: ReadBody;
}

/** State shared by all requests. */
export interface Context extends BodyLimits {
  readonly storage: PetStorage;
  readonly baseUrl: BaseUrl;
  /** False after the removal of `getPet`. */
  readonly getPet: boolean;
  /** Answers with the OpenAPI document, or with 304. */
  readonly document: StaticContent;
}

/** A route at its full path, and what it does. */
export interface Endpoint {
  /** The method; `GET` includes `HEAD`. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path, or a template that ends in one parameter: `/v1/pets/{petId}`. */
  readonly path: string;
  /** If true, it needs no API key. */
  readonly isPublic?: boolean | undefined;
  /** Header fields of all its responses, including errors. They must include those of JSON. */
  readonly fields?: Fields | undefined;
  /** Answers a call. Rejects only with a `StorageError` or an unexpected error. */
  readonly run: (call: Call) => Promise<Answer>;
}

/** An operation of the contract: an endpoint below any base address. */
export interface Operation extends DescribedOperation {
  readonly fields?: (baseUrl: BaseUrl) => Fields;
  readonly run: (call: Call, context: Context) => Promise<Answer>;
}

/** The errors of every operation that needs a key and uses the storage. */
export const COMMON_ERRORS = [
  "bad_request",
  "unauthorized",
  "too_many_requests",
  "internal_error",
  "service_unavailable",
] as const;

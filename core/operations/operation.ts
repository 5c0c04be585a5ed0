/** The operations of the service, each a row for the router, the pipeline and the OpenAPI document. */

import type { BaseUrl } from "../http/base_url.ts";
import type { BodyLimits } from "../http/body.ts";
import type { Answer, Fields, ServiceRequest } from "../http/message.ts";
import type { Route } from "../http/router.ts";
import type { StaticContent } from "../http/static_content.ts";
import type { DescribedOperation } from "../openapi/document.ts";
import type { PetStorage } from "../pets/pet_storage.ts";

/** One request, routed and authenticated. */
export interface Call {
  readonly request: ServiceRequest;
  /** The raw query, without its `?`. */
  readonly query: string;
  /** The last segment of the path, which stands for `{petId}` if the path has it. */
  readonly petId: string;
  /** The API key, which is valid; empty if the endpoint is public. */
  readonly apiKey: string;
}

/** State shared by all requests. */
export interface Context extends BodyLimits {
  readonly storage: PetStorage;
  readonly baseUrl: BaseUrl;
  /** Answers with the OpenAPI document, or with 304. */
  readonly document: StaticContent;
}

/** A route, and what it does. */
export interface Endpoint extends Route {
  /** If true, it is answered without an API key. */
  readonly isPublic?: boolean;
  /** Header fields of all its responses, errors too. */
  readonly fields?: (baseUrl: BaseUrl) => Fields;
  /** Answers a call. Rejects only with what nobody expected. */
  readonly run: (call: Call, context: Context) => Promise<Answer>;
}

/** An operation of the contract; its path is below the base address. */
export interface Operation extends Endpoint, DescribedOperation {}

/** The errors of every operation that needs a key and asks the storage. */
export const COMMON_ERRORS = [
  "bad_request",
  "unauthorized",
  "too_many_requests",
  "internal_error",
  "service_unavailable",
] as const;

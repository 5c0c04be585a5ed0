/** What an operation is: a row of `operations.ts`, for the router, the pipeline and the OpenAPI document. */

import type { BaseUrl } from "./http/base_url.ts";
import type { BodyLimits, IncomingBody } from "./http/body.ts";
import type { ErrorCode } from "./http/refusal.ts";
import type { Reply } from "./http/reply.ts";
import type { PetStorage } from "./pets/pet_storage.ts";

/** What the service reads of a request: a `Request`, or as much of one. */
export interface ServiceRequest extends IncomingBody {
  readonly method: string;
  readonly url: string;
}

/** One request, routed and authenticated. */
export interface Call {
  readonly request: ServiceRequest;
  /** The raw query, without its `?`. */
  readonly query: string;
  /** The path segment that stands for `{petId}`; empty if the path has none. */
  readonly petId: string;
}

/** What outlives a request. */
export interface Context extends BodyLimits {
  readonly storage: PetStorage;
  readonly baseUrl: BaseUrl;
  /** Answers with the OpenAPI document, or with 304. */
  readonly document: (request: ServiceRequest) => Promise<Reply>;
}

/** An operation on a path. */
export interface Operation {
  readonly method: "GET" | "POST";
  /** The path template below the base address, such as `/pets/{petId}`. */
  readonly path: string;
  /** Whether it is answered without an API key. */
  readonly isPublic?: boolean;
  /** Whether its responses say that it is deprecated. */
  readonly isDeprecated?: boolean;
  /** All errors that it answers with. In the OpenAPI document, those that no caller acts on are `default`. */
  readonly errors: readonly ErrorCode[];
  /** Answers a call. Rejects only with what nobody expected. */
  readonly run: (call: Call, context: Context) => Promise<Reply>;
  /** The operation as an OpenAPI Operation Object, without the parts that all operations share. */
  readonly description: JsonObject;
}

/** A JSON object whose members are JSON; arrays hold no arrays. */
export interface JsonObject {
  /** A member. */
  readonly [name: string]:
    | string
    | number
    | boolean
    | null
    | JsonObject
    | readonly (string | number | JsonObject)[];
}

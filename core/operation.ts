/** An endpoint is what the router finds for a request; a call is what its `run` gets. */

import type {
  Answer,
  BodyLimits,
  ErrorCode,
  Fields,
  ReadBody,
  ServiceRequest,
} from "./answer.ts";
import type { BaseUrl } from "./http/base_url.ts";
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

/** A method on a path, and what it does. */
export interface Endpoint {
  /** The method; `GET` includes `HEAD`. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path, or a template that ends in one parameter: `/v1/pets/{petId}`. */
  readonly path: string;
  /** If true, it needs no API key. */
  readonly isPublic?: boolean | undefined;
  /** Header fields of all its responses, including errors, beside those of each. */
  readonly fields?: Fields | undefined;
  /**
   * The path of the OpenAPI document that it loads, if it is a page: `createHandler` refuses any but
   * the service's own.
   */
  readonly openApiUrl?: string | undefined;
  /** Answers a call, also if it refuses it; rejects only for faults, such as a `StorageError`. */
  readonly run: (call: Call) => Promise<Answer>;
}

/** What the operations of a service share. */
export interface Context {
  /** Keeps the pets. */
  readonly storage: PetStorage;
  /** Where the service is mounted. */
  readonly baseUrl: BaseUrl;
  /** Limits on the body of a create. */
  readonly limits: BodyLimits;
  /** False after the removal of `getPet`. */
  readonly hasGetPet: boolean;
  /** Answers with the OpenAPI document, or with 304. */
  readonly document: (request: ServiceRequest) => Promise<Answer>;
}

/**
 * An operation of the contract: an endpoint whose path is below the base address, and which is
 * called with the state of the service. The OpenAPI document describes it by its `id`.
 */
export interface Operation extends Omit<Endpoint, "fields" | "run"> {
  /** Its `operationId`. */
  readonly id: "listPets" | "createPet" | "getPet" | "getOpenApi";
  /** The errors that the document lists for it: all but 405, also those of earlier checks. */
  readonly errors: readonly ErrorCode[];
  /** Header fields of all its responses, including errors, beside those of each. */
  readonly fields?: (baseUrl: BaseUrl) => Fields;
  /** Answers a call, also if it refuses it; rejects only for faults, such as a `StorageError`. */
  readonly run: (call: Call, context: Context) => Promise<Answer>;
}

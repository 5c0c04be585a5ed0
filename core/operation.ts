/**
 * What every operation is given, and what it gives back.
 *
 * @module
 */

import type { BaseUrl } from "./http/base_url.ts";
import type { BodyLimits } from "./http/body.ts";
import type { PetStorage } from "./pets/pet_storage.ts";
import type { Reply } from "./http/reply.ts";

/** One request, routed and allowed. */
export interface Call {
  readonly request: Request;
  /** The raw query, without its `?`. */
  readonly query: string;
  /** What stands in the place of `{petId}`; empty where the path has none. */
  readonly petId: string;
}

/** What outlives a request. */
export interface Service extends BodyLimits {
  readonly storage: PetStorage;
  readonly baseUrl: BaseUrl;
}

/** Answers one operation of the contract. Rejects only with what nobody expected. */
export type Operation = (call: Call, service: Service) => Promise<Reply>;

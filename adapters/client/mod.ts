/**
 * A client of the pet store service. It needs only web globals, so it runs on Deno, Bun and Node, in
 * workers, and in browsers that have
 * [JSON.parse source text access](https://caniuse.com/mdn-javascript_builtins_json_parse_reviver_parameter_context_argument).
 *
 * ```ts
 * import { createClient, PetStoreError } from "@petstore/service/client";
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * // The whole service in process; leave `fetch` out to reach one over the network.
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch: handle });
 *
 * const rex = await client.createPet({ name: "Rex", categoryId: 9007199254740993n });
 * assert.equal(rex.categoryId, 9007199254740993n);
 * for await (const pet of client.pets({ status: "available" })) {
 *   assert.equal(pet.name, "Rex");
 * }
 *
 * await client.createPet({ name: "Zoë", categoryId: 1n });
 * const page = await client.listPets({ limit: 1 });
 * assert.ok(page.next !== undefined);
 * const { pets: [zoe] } = await client.listPets(page.next);
 * assert.equal(zoe?.name, "Zoë");
 *
 * try {
 *   await client.createPet({ name: "", categoryId: 1n }, { signal: AbortSignal.timeout(60_000) });
 *   assert.fail("an empty name was accepted");
 * } catch (error) {
 *   if (!(error instanceof PetStoreError)) throw error;
 *   assert.equal(error.code, "bad_request");
 *   assert.equal(error.uncertain, false); // nothing was added
 * }
 * ```
 *
 * @module
 */

import { MAX_LIMIT } from "../../core/pets/page.ts";
import type { NewPet, Pet } from "../../core/pets/pet.ts";
import {
  type ClientCall,
  createPetCall,
  getPetCall,
  listPetsCall,
  type PetsPage,
  type PetsQuery,
} from "./calls.ts";
import type { PetStoreError } from "./error.ts";
import { exchange } from "./exchange.ts";
import { type ClientOptions, readOptions } from "./options.ts";
import { type Outcome, readOutcome } from "./outcome.ts";
import { isTransient, pause, retryDelay } from "./retry.ts";

export type { ErrorCode } from "../../core/http/refusal.ts";
export {
  type NewPet,
  type Pet,
  type PetId,
  type PetStatus,
  petToJson,
} from "../../core/pets/pet.ts";
export {
  type AnyPetStoreError,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
} from "./error.ts";
export type { ClientOptions, Clock } from "./options.ts";
export type { PetsPage, PetsQuery } from "./calls.ts";

/**
 * Settings of one call.
 *
 * @example
 * ```ts
 * import type { CallOptions, Client } from "@petstore/service/client";
 *
 * const options: CallOptions = { signal: AbortSignal.timeout(60_000) }; // for all attempts together
 * const listSlowly = (client: Client) => client.listPets({ limit: 100 }, options);
 * ```
 */
export interface CallOptions {
  /**
   * Ends the call and all its attempts, and rejects with the signal's reason. A pet that was being
   * created may have been added all the same.
   */
  readonly signal?: AbortSignal;
}

/**
 * The operations of the service. Each promise rejects with a {@linkcode PetStoreError}, or a
 * `TypeError` if an argument has a wrong type.
 *
 * The integers of a {@linkcode Pet} are of type `bigint`, which `JSON.stringify` refuses with a
 * `TypeError`: use {@linkcode petToJson}.
 *
 * @example
 * ```ts
 * import type { Client } from "@petstore/service/client";
 *
 * async function countSold(client: Client): Promise<number> {
 *   let count = 0;
 *   for await (const _pet of client.pets({ status: "sold" })) count++;
 *   return count;
 * }
 * ```
 */
export interface Client {
  /**
   * Returns one page of pets, at most 20 unless `limit` says otherwise.
   *
   * @param page selects the pets, or is the address of a page: the `next` of another.
   */
  listPets(page?: PetsQuery | string, options?: CallOptions): Promise<PetsPage>;

  /**
   * Walks through all pets that match, page by page: each that existed when the walk began exactly
   * once, ascending by id. `limit` is the size of a page, by default 100. To continue an interrupted
   * walk, pass the last id as `after`.
   */
  pets(query?: PetsQuery, options?: CallOptions): AsyncIterable<Pet>;

  /**
   * Adds a pet, once. If this rejects, the pet may have been added all the same, unless the service
   * refused it: see {@linkcode PetStoreError.uncertain}.
   */
  createPet(pet: NewPet, options?: CallOptions): Promise<Pet>;

  /**
   * Returns one pet; rejects with the code `not_found` if it does not exist.
   *
   * @deprecated To be removed on 5 December 2030. Use `listPets` with a `status`.
   */
  getPet(id: bigint, options?: CallOptions): Promise<Pet>;
}

/**
 * Makes a client.
 *
 * Calls are tried again after a network error, a timeout and the statuses 408, 429, 502, 503 and 504.
 * A create has an `Idempotency-Key` of its own, so that the service adds the pet once however often it
 * is asked: see {@linkcode ClientOptions.idempotentCreates}. Pauses double from half a second, vary, and
 * honour `Retry-After`; if that asks for more than 30 s, the call rejects at once.
 *
 * @example
 * ```ts
 * import { createClient } from "@petstore/service/client";
 *
 * const client = createClient({ baseUrl: "https://api.example.com/v1", key: "secret" });
 * ```
 *
 * @throws {TypeError} if an option is unknown or of a wrong kind. The message never shows the key.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime cannot read 64-bit integers exactly, such as Node 20.
 */
export function createClient(options: ClientOptions): Client {
  const settings = readOptions(options);
  const { retries, random, clock } = settings;

  async function perform<T extends object>(
    call: ClientCall<T>,
    { signal }: CallOptions = {},
  ): Promise<T> {
    for (let attempt = 0, uncertain = false;; attempt++) {
      const received = await exchange(call, settings, signal);
      const options = { ...settings, uncertain };
      const outcome: Outcome<T> = readOutcome(received, call, options);
      if ("result" in outcome) return outcome.result;
      const failure: PetStoreError = outcome.failure;
      const delay = attempt < retries && isTransient(failure, call)
        ? retryDelay(failure, attempt, random)
        : undefined;
      if (delay === undefined) throw failure;
      ({ uncertain } = failure);
      await pause(delay, clock, signal);
    }
  }

  async function* walk(
    { limit = MAX_LIMIT, ...query }: PetsQuery,
    options: CallOptions,
  ): AsyncGenerator<Pet> {
    let { after } = query;
    let next: PetsQuery | string | undefined = { ...query, limit };
    while (next !== undefined) {
      const call = listPetsCall(next, settings, after);
      const page: PetsPage = await perform(call, options);
      for (const pet of page.pets) {
        options.signal?.throwIfAborted();
        yield pet;
      }
      after = page.pets.at(-1)?.id;
      ({ next } = page);
    }
  }

  // All are async, so that a wrong argument rejects like any other failure.
  return {
    async listPets(page = {}, options) {
      return await perform(listPetsCall(page, settings), options);
    },
    pets: (query = {}, options = {}) => ({
      [Symbol.asyncIterator]: () => walk(query, options),
    }),
    async createPet(pet, options) {
      return await perform(createPetCall(pet, settings), options);
    },
    async getPet(id, options) {
      return await perform(getPetCall(id, settings), options);
    },
  };
}

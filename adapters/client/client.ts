/** The operations as methods, which retry after transient failures. */

import { checkNames, MAX_LIMIT } from "../../core/kit.ts";
import type { NewPet, Pet } from "../../core/storage.ts";
import {
  checkQuery,
  type ClientCall,
  createPetCall,
  getPetCall,
  listPetsCall,
  type PetsPage,
  type PetsQuery,
} from "./calls.ts";
import { exchange } from "./exchange.ts";
import { type ClientOptions, readOptions, type Settings } from "./options.ts";
import { type Outcome, readOutcome } from "./outcome.ts";
import { pause, retryDelay } from "./retry.ts";

/** Settings of one call. */
export interface CallOptions {
  /**
   * Ends the call and all its attempts, for example `AbortSignal.timeout(60_000)`. The call rejects
   * with the signal's reason; a pet that was being created may still have been added.
   *
   * @example End a call that takes too long
   * ```ts
   * import { createClient } from "@petstore/service/client";
   * import assert from "node:assert/strict";
   *
   * const fetch = () => new Promise<Response>(() => {}); // nobody answers
   * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch });
   * const signal = AbortSignal.timeout(50);
   * await assert.rejects(client.listPets({}, { signal }), { name: "TimeoutError" });
   * ```
   */
  readonly signal?: AbortSignal;
}

/**
 * The operations of the service. Each promise rejects with a {@linkcode PetStoreError}, or a
 * `TypeError` if an argument has a wrong type.
 *
 * A later version of the service may have further values of `status`, which are passed on. The
 * integers of a {@linkcode Pet} are of type `bigint`, which `JSON.stringify` refuses with a
 * `TypeError`: use {@linkcode petToJson}.
 */
export interface Client {
  /**
   * Returns one page of pets, at most 20 unless `limit` says otherwise.
   *
   * @param page selects the pets. `next` of a page selects the one after it.
   */
  listPets(page?: PetsQuery, options?: CallOptions): Promise<PetsPage>;

  /**
   * Walks through all pets that match, page by page. Each pet that existed when the walk began is
   * seen exactly once, ascending by id. To continue an interrupted walk, pass the last id as
   * `after`.
   *
   * @param query selects the pets; its `limit` is the size of a page, by default 100.
   */
  pets(query?: PetsQuery, options?: CallOptions): AsyncIterable<Pet>;

  /**
   * Adds a pet, once. If this rejects, the pet may still have been added, unless the service
   * refused it: see {@linkcode PetStoreError.uncertain}.
   */
  createPet(pet: NewPet, options?: CallOptions): Promise<Pet>;

  /**
   * Returns one pet. Rejects with the code `not_found` if it does not exist.
   *
   * @deprecated To be removed on 5 December 2030. Use `listPets` with a `status`.
   */
  getPet(id: bigint, options?: CallOptions): Promise<Pet>;
}

/**
 * Makes a client of a service.
 *
 * Calls are retried after a network error, a timeout, or the status 408, 429, 502, 503 or 504. Each
 * create has its own `Idempotency-Key`, so that retries do not add the pet again: see
 * {@linkcode ClientOptions.idempotentCreates}. Pauses are random, start at up to half a second,
 * double, and are at least as long as `Retry-After` says. If that is more than 30 s, the call
 * rejects at once.
 *
 * @example Make a client of a local service
 * ```ts
 * import { createClient } from "@petstore/service/client";
 *
 * const client = createClient({ baseUrl: "http://127.0.0.1:8000/v1", key: "secret" });
 * ```
 *
 * @param options where the service is, the API key, and how to send and retry requests.
 * @returns the operations of the service as methods.
 * @throws {TypeError} if an option is unknown or has the wrong type. The message never shows the
 * key.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime is too old, such as Node 20.
 */
export function createClient(options: ClientOptions): Client {
  return makeClient(readOptions(options));
}

/** Makes a client from settings. Tests pass their own. */
export function makeClient(settings: Settings): Client {
  async function perform<T extends object>(
    call: ClientCall<T>,
    options: CallOptions = {},
  ): Promise<T> {
    checkNames(options, ["signal"], "each call");
    const { signal } = options;
    for (let attempt = 0, uncertain = false;; attempt++) {
      const received = await exchange(call, settings, signal);
      const outcome: Outcome<T> = readOutcome(received, call, {
        ...settings,
        uncertain,
      });
      if ("result" in outcome) return outcome.result;
      const delay = retryDelay(outcome, call, attempt, settings);
      if (delay === undefined) throw outcome;
      ({ uncertain } = outcome);
      await pause(delay, settings, signal);
    }
  }

  async function* walk(
    { limit = MAX_LIMIT, ...query }: PetsQuery,
    options: CallOptions,
  ): AsyncGenerator<Pet> {
    let next: PetsQuery | undefined = { ...query, limit };
    while (next !== undefined) {
      const page: PetsPage = await perform(
        listPetsCall(next, settings),
        options,
      );
      for (const pet of page.pets) {
        options.signal?.throwIfAborted();
        yield pet;
      }
      ({ next } = page);
    }
  }

  // The methods are async, so that a wrong argument rejects like any other failure; `pets`, which
  // returns no promise, throws.
  return {
    async listPets(page = {}, options) {
      return await perform(listPetsCall(page, settings), options);
    },
    pets(query = {}, options = {}) {
      checkQuery(query, "pets");
      return { [Symbol.asyncIterator]: () => walk(query, options) };
    },
    async createPet(pet, options) {
      return await perform(createPetCall(pet, settings), options);
    },
    async getPet(id, options) {
      return await perform(getPetCall(id, settings), options);
    },
  };
}

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
import { interpret } from "./answer.ts";
import {
  type Call,
  createPetCall,
  getPetCall,
  listPetsCall,
  type PetsPage,
  type PetsQuery,
} from "./calls.ts";
import { PetStoreError } from "./error.ts";
import { exchange } from "./exchange.ts";
import { type ClientOptions, readOptions } from "./options.ts";
import { isPassing, pause, retryDelay } from "./retry.ts";

export type { ErrorCode } from "../../core/http/refusal.ts";
export type { NewPet, Pet, PetId, PetStatus } from "../../core/pets/pet.ts";
export {
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
} from "./error.ts";
export type { ClientOptions, Clock } from "./options.ts";
export type { PetsPage, PetsQuery } from "./calls.ts";

/** Settings of one call. */
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
 */
export interface Client {
  /**
   * One page of pets, at most 20 unless `limit` says otherwise.
   *
   * @param page which pets, or the address of a page: the `next` of another.
   */
  listPets(page?: PetsQuery | string, options?: CallOptions): Promise<PetsPage>;

  /**
   * All pets that match, page by page: each that existed when the walk began exactly once, ascending
   * by id. `limit` is the size of a page, by default 100. To continue a walk that was broken off, give
   * the last id it saw as `after`.
   */
  pets(query?: PetsQuery, options?: CallOptions): AsyncIterable<Pet>;

  /**
   * Adds a pet, once. If this rejects, the pet may have been added all the same, unless the service
   * refused it: see {@linkcode PetStoreError.uncertain}.
   */
  createPet(pet: NewPet, options?: CallOptions): Promise<Pet>;

  /**
   * One pet; rejects with the code `not_found` if it does not exist.
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
 * @throws {TypeError} if an option is of a wrong kind. The message never shows the key.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime cannot read 64-bit integers exactly, such as Node 20.
 */
export function createClient(options: ClientOptions): Client {
  const settings = readOptions(options);
  const { key, retries, random, clock } = settings;

  async function perform<T extends object>(
    call: Call<T>,
    { signal }: CallOptions = {},
  ): Promise<T> {
    const init = requestInit(call, key);
    for (let attempt = 0, uncertain = false;; attempt++) {
      const answer = await exchange(call.url, init, { ...settings, signal });
      const now = clock.now();
      const result: T | PetStoreError = interpret(answer, call, {
        key,
        now,
        uncertain,
      });
      if (!(result instanceof PetStoreError)) return result;
      const delay = attempt < retries && isPassing(result, call)
        ? retryDelay(result, attempt, random)
        : undefined;
      if (delay === undefined) throw result;
      ({ uncertain } = result);
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

  // All are async, so that a wrong argument rejects as everything else does.
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

function requestInit(
  { body, idempotencyKey }: Call<object>,
  key: string,
): RequestInit {
  return {
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json",
      authorization: `Bearer ${key}`,
      ...body !== undefined && { "content-type": "application/json" },
      ...idempotencyKey !== undefined && { "idempotency-key": idempotencyKey },
    },
    // A redirect is not followed: the key goes where baseUrl says, and a POST does not become a GET.
    // With "error" it would look like a network error, and some workers do not have it.
    redirect: "manual",
    // Not as text: Deno's fetch itself sends text a second time if a connection that was kept alive
    // breaks, after the service had it too (Deno 2.9).
    body: body === undefined ? null : new Blob([body]),
  };
}

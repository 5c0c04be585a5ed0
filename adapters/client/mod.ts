/**
 * A client for the pet store service. It needs web globals and nothing else, so it runs on Deno, Bun
 * and Node, in workers, and in browsers that have
 * [JSON.parse source text access](https://caniuse.com/mdn-javascript_builtins_json_parse_reviver_parameter_context_argument).
 *
 * ```ts
 * import { createClient } from "./mod.ts";
 * import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";
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
 * ```
 *
 * @module
 */

import { MAX_LIMIT } from "../../core/pets/page.ts";
import type { NewPet, Pet } from "../../core/pets/pet.ts";
import { type Call, interpret } from "./answer.ts";
import { pause } from "./clock.ts";
import { PetStoreError } from "./error.ts";
import { exchange } from "./exchange.ts";
import { type ClientOptions, readOptions } from "./options.ts";
import {
  checkPage,
  listPetsCall,
  type PetsPage,
  type PetsQuery,
  petsUrl,
} from "./page.ts";
import { createPetCall, getPetCall } from "./pet.ts";
import { isPassing, retryDelay } from "./retry.ts";

export type { ErrorCode } from "../../core/http/refusal.ts";
export type { NewPet, Pet, PetId, PetStatus } from "../../core/pets/pet.ts";
export type { Clock } from "./clock.ts";
export {
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
} from "./error.ts";
export type { ClientOptions } from "./options.ts";
export type { PetsPage, PetsQuery } from "./page.ts";

/** Settings of one call. */
export interface CallOptions {
  /**
   * Ends the call and all its attempts, which rejects with the signal's reason. An animal that was
   * being created may have been added all the same.
   */
  readonly signal?: AbortSignal;
}

/**
 * The operations of the service. Each promise rejects with a {@linkcode PetStoreError}, or a
 * `TypeError` where an argument has a wrong type.
 */
export interface Client {
  /**
   * One page of animals, at most 20 unless `limit` says otherwise. `next` of a page leads on:
   *
   * ```ts
   * import { createClient } from "./mod.ts";
   * import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";
   * import assert from "node:assert/strict";
   *
   * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
   * const client = createClient({ baseUrl: "http://localhost/v1", key: "secret", fetch: handle });
   * for (let i = 0n; i < 5n; i++) await client.createPet({ name: "Rex", categoryId: i });
   *
   * let page = await client.listPets({ limit: 2 });
   * const sizes = [page.pets.length];
   * while (page.next !== undefined) {
   *   page = await client.listPets(page.next);
   *   sizes.push(page.pets.length);
   * }
   * assert.deepEqual(sizes, [2, 2, 1]);
   * ```
   *
   * @param page what to list, or the address of a page: the `next` of another.
   */
  listPets(page?: PetsQuery | string, options?: CallOptions): Promise<PetsPage>;

  /**
   * All animals that match, page by page: each that existed when the walk began exactly once,
   * ascending by id. `limit` is the size of a page, 100 unless it is given. A walk that was broken
   * off goes on from `after`, the last id it saw.
   */
  pets(query?: PetsQuery, options?: CallOptions): AsyncIterable<Pet>;

  /**
   * Adds an animal, once. Where this rejects, and not because the service refused it, the animal may
   * have been added all the same: see {@linkcode PetStoreError.uncertain}.
   */
  createPet(pet: NewPet, options?: CallOptions): Promise<Pet>;

  /**
   * One animal; rejects with the code `not_found` where there is none.
   *
   * @deprecated The service removes it on 5 December 2030. Use `listPets` with a `status`.
   */
  getPet(id: bigint, options?: CallOptions): Promise<Pet>;
}

/**
 * Makes a client.
 *
 * Calls that read are tried again after a network error, a timeout and the statuses 408, 429, 502,
 * 503 and 504. `createPet` is tried again only where the service itself says that nothing was
 * changed: an Error with the code `service_unavailable`, and `Retry-After`. Nothing else proves it, a
 * failed connection or another 503 neither. Pauses double from half a second, vary, and heed
 * `Retry-After`; where that asks for more than 30 s, the call rejects at once.
 *
 * ```ts
 * import { createClient, PetStoreError } from "./mod.ts";
 * import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";
 * import assert from "node:assert/strict";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const client = createClient({ baseUrl: "http://localhost/v1", key: "guess", fetch: handle });
 * try {
 *   await client.createPet({ name: "Rex", categoryId: 1n }, { signal: AbortSignal.timeout(60_000) });
 *   assert.fail("a wrong key was accepted");
 * } catch (error) {
 *   if (!(error instanceof PetStoreError)) throw error;
 *   assert.equal(error.code, "unauthorized");
 *   assert.equal(error.uncertain, false); // nothing was added
 * }
 * ```
 *
 * @throws {TypeError} where an option is of a wrong kind. The message never shows the key.
 * @throws {RangeError} where a number is out of bounds.
 */
export function createClient(options: ClientOptions): Client {
  const { base, origin, key, retries, random, ...sending } = readOptions(
    options,
  );
  const { clock } = sending;

  async function perform<T extends object>(
    call: Call<T>,
    { signal }: CallOptions = {},
  ): Promise<T> {
    for (let attempt = 0;; attempt++) {
      const answer = await exchange(call.url, requestInit(call, key), {
        ...sending,
        signal,
      });
      const result = interpret(answer, call, { key, now: clock.now() });
      if (!(result instanceof PetStoreError)) return result;
      if (attempt === retries || !isPassing(result, call)) throw result;
      const delay = retryDelay(result, { attempt, random });
      if (delay === undefined) throw result;
      await pause(delay, { clock, signal });
    }
  }

  async function* walk(
    query: PetsQuery,
    options: CallOptions,
  ): AsyncGenerator<Pet> {
    let { after } = query;
    let url: string | undefined = petsUrl(base, {
      ...query,
      limit: query.limit ?? MAX_LIMIT,
    });
    while (url !== undefined) {
      const call = listPetsCall(url, { origin, after });
      const page: PetsPage = await perform(call, options);
      for (const pet of page.pets) {
        options.signal?.throwIfAborted();
        after = pet.id;
        yield pet;
      }
      url = page.next;
    }
  }

  // All are async, so that a wrong argument rejects as everything else does.
  return {
    async listPets(page = {}, options) {
      if (typeof page !== "string") {
        const { after } = page;
        const url = petsUrl(base, page);
        return await perform(listPetsCall(url, { origin, after }), options);
      }
      checkPage(page, origin);
      return await perform(listPetsCall(page, { origin }), options);
    },
    pets: (query = {}, options = {}) => ({
      [Symbol.asyncIterator]: () => walk(query, options),
    }),
    async createPet(pet, options) {
      return await perform(createPetCall(base, pet), options);
    },
    async getPet(id, options) {
      return await perform(getPetCall(base, id), options);
    },
  };
}

function requestInit<T extends object>(
  { isCreate, body }: Call<T>,
  key: string,
): RequestInit {
  const headers = {
    accept: "application/json",
    authorization: `Bearer ${key}`,
  };
  // A redirect is not followed: the key goes where baseUrl says, and a POST does not become a GET.
  // With "error" it would look like a network error, and some workers do not have it.
  const redirect = "manual";
  return isCreate && body !== undefined
    ? {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      // Not as text: Deno's fetch itself sends text a second time where a connection that was kept
      // alive breaks, after the service had it too (Deno 2.9).
      body: new Blob([body]),
      redirect,
    }
    : { headers, redirect };
}

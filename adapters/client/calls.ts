/** The operations: each sends a request and checks the response. */

import * as v from "valibot";
import { checkNames, int64Problem, isInt64 } from "../../core/kit.ts";
import {
  type NewPet,
  type Pet,
  petId,
  type PetStatus,
} from "../../core/storage.ts";
import type { Settings } from "./options.ts";

/** One operation, about to be performed. */
export interface ClientCall<T extends object> {
  readonly action: "list pets" | "create pet" | "get pet";
  readonly url: string;
  /** The JSON text of a create. Calls without a body only read. */
  readonly body?: string;
  readonly idempotencyKey?: string | undefined;
  /**
   * Makes the result from the JSON body and the header fields.
   *
   * @throws {Mismatch} if they break the contract.
   */
  read(body: unknown, headers: Headers): T;
}

/** Says what is wrong with a response: part of a message, which does not quote the response. */
export class Mismatch extends Error {}

/** Selects the pets to list. */
export interface PetsQuery {
  /** The maximum number of pets on a page: 1 to 100. */
  readonly limit?: number;
  /** Only pets with this status. */
  readonly status?: PetStatus;
  /** Only pets with a greater id: any int64. */
  readonly after?: bigint;
}

/** @throws {TypeError} if a query is not an object, or has an unknown member. */
export function checkQuery(query: PetsQuery, owner: string): void {
  checkNames(query, ["limit", "status", "after"], owner);
}

/** One page of the pets that match. */
export interface PetsPage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** Selects the next page, for `listPets`; absent if no more pets match. */
  readonly next?: PetsQuery;
}

const int64Schema = v.custom<bigint>(
  isInt64,
  ({ input }) => int64Problem(input),
);

/**
 * Does not check names, because the server's rules for them may have changed since, and accepts any
 * status: a later version may have more, and one of them should not cost the whole list.
 */
const petSchema: v.GenericSchema<unknown, Pet> = v.object({
  id: v.pipe(
    int64Schema,
    v.check((id) => id >= 1n, "must be positive"),
    v.transform(petId),
  ),
  name: v.string("must be a string"),
  categoryId: int64Schema,
  status: v.string("must be a string") as v.GenericSchema<unknown, PetStatus>,
}, (issue) => issue.expected === "Object" ? "must be an object" : "is missing");

const petsSchema = v.array(petSchema, "must be an array");

/** `GET /pets`. The page after it begins after the last id of this one. */
export function listPetsCall(
  query: PetsQuery,
  { base }: Settings,
): ClientCall<PetsPage> {
  const url = pageUrl(base, query);
  const { after } = query;
  return {
    action: "list pets",
    url,
    read(body, headers) {
      const pets = check(petsSchema, body);
      const [first] = pets;
      // Otherwise a walk would see pets twice, or miss some.
      if (first && after !== undefined && first.id <= after) {
        throw new Mismatch("this store does not page by after");
      }
      const isAscending = pets.every(({ id }, i) =>
        id > (pets[i - 1]?.id ?? 0n)
      );
      if (!isAscending) {
        throw new Mismatch("the ids on the page are not ascending");
      }
      if (!HAS_NEXT.test(headers.get("link") ?? "")) return { pets };
      const last = pets.at(-1);
      // Together with ascending ids this makes every walk end, whatever the server does.
      if (last === undefined) {
        throw new Mismatch("the page is empty, yet it has a next one");
      }
      return { pets, next: { ...query, after: last.id } };
    },
  };
}

/** `POST /pets`. @throws {TypeError} if a member has a wrong type. The service checks the rest. */
export function createPetCall(
  pet: NewPet,
  { base, idempotentCreates }: Settings,
): ClientCall<Pet> {
  const { name, categoryId, status } = Object(pet) as NewPet;
  checkBigint(categoryId, "categoryId");
  if (typeof name !== "string") {
    throw new TypeError(`name must be a string, not ${typeof name}`);
  }
  const others = JSON.stringify({ name, status }).slice(0, -1);
  return {
    action: "create pet",
    url: `${base}/pets`,
    // JSON.stringify refuses a bigint, and a number would lose digits.
    body: `${others},"categoryId":${categoryId}}`,
    idempotencyKey: idempotentCreates ? randomIdempotencyKey() : undefined,
    read(body) {
      const pet = check(petSchema, body);
      const sent = { name, categoryId, status: status ?? pet.status };
      const members = ["name", "categoryId", "status"] as const;
      const wrong = members.find((member) => pet[member] !== sent[member]);
      if (wrong === undefined) return pet;
      throw new Mismatch(
        `${wrong} of the response is not the one that was sent`,
      );
    },
  };
}

/** `GET /pets/{petId}`. @throws {TypeError} if `id` is not a `bigint`. */
export function getPetCall(id: bigint, { base }: Settings): ClientCall<Pet> {
  checkBigint(id, "id");
  return {
    action: "get pet",
    url: `${base}/pets/${id}`,
    read(body) {
      const pet = check(petSchema, body);
      if (pet.id === id) return pet;
      throw new Mismatch(
        "id of the response is not the one that was asked for",
      );
    },
  };
}

function pageUrl(base: string, query: PetsQuery): string {
  checkQuery(query, "listPets");
  const { limit, status, after } = query;
  if (after !== undefined) checkBigint(after, "after");
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries({ limit, status, after })) {
    if (value !== undefined) fields.set(name, String(value));
  }
  return fields.size === 0 ? `${base}/pets` : `${base}/pets?${fields}`;
}

/** Matches a `Link` field that has the relation type `next` (RFC 8288 §3.3), alone or among others. */
const HAS_NEXT =
  /;[ \t]*rel[ \t]*=[ \t]*(?:next(?![\w.-])|"(?:[^"]* )?next[ "])/i;

/** @throws {Mismatch} if the body does not match the schema. */
function check<T>(schema: v.GenericSchema<unknown, T>, body: unknown): T {
  const { success, output, issues } = v.safeParse(schema, body, {
    abortEarly: true,
  });
  if (success) return output;
  const path = v.getDotPath(issues[0]) ?? "the body";
  throw new Mismatch(`${path} of the response ${issues[0].message}`);
}

/** @throws {TypeError} if a value is not a `bigint`: a `number` may already be rounded. */
function checkBigint(value: unknown, name: string): void {
  if (typeof value === "bigint") return;
  throw new TypeError(
    `${name} must be a bigint, such as 7n or BigInt("7"), not ${typeof value}`,
  );
}

/**
 * Returns 128 random bits as a structured-field string (RFC 9651 §3.3.3). In browsers
 * `crypto.randomUUID()` needs https.
 */
function randomIdempotencyKey(): string {
  return `"${crypto.getRandomValues(new BigUint64Array(2)).join("-")}"`;
}

/**
 * `createPet` and `getPet` from the side of a caller: what is sent, and what must come back.
 *
 * @module
 */

import * as v from "valibot";
import { int64Schema, statusSchema } from "../../core/pets/new_pet.ts";
import { type NewPet, type Pet, petId } from "../../core/pets/pet.ts";
import type { Call } from "./answer.ts";

/**
 * `POST /pets`.
 *
 * @throws {TypeError} where a member is of a wrong type. Everything else is for the service to judge.
 */
export function createPetCall(base: string, pet: NewPet): Call<Pet> {
  return {
    action: "create pet",
    isCreate: true,
    url: `${base}/pets`,
    body: newPetToJson(pet),
    status: 201,
    read: (body) => readBody(petSchema, body),
  };
}

/**
 * `GET /pets/{petId}`.
 *
 * @throws {TypeError} where `id` is no `bigint`.
 */
export function getPetCall(base: string, id: bigint): Call<Pet> {
  checkBigint(id, "id");
  return {
    action: "get pet",
    isCreate: false,
    url: `${base}/pets/${id}`,
    status: 200,
    read(body) {
      const pet = readBody(petSchema, body);
      if (typeof pet === "string" || pet.id === id) return pet;
      return "id of the response is not the one that was asked for";
    },
  };
}

/** What is no Pet is refused; the rules for a new name are not, as they may be others by then. */
export const petSchema: v.GenericSchema<unknown, Pet> = v.object({
  id: v.pipe(
    int64Schema,
    v.check((id) => id >= 1n, "must be positive"),
    v.transform(petId),
  ),
  name: v.string("must be a string"),
  categoryId: int64Schema,
  status: statusSchema,
}, (issue) => issue.expected === "Object" ? "must be an object" : "is missing");

/** Checks a body, or says what is wrong with it, without quoting it. */
export function readBody<T>(
  schema: v.GenericSchema<unknown, T>,
  body: unknown,
): T | string {
  const check = v.safeParse(schema, body, { abortEarly: true });
  if (check.success) return check.output;
  const [issue] = check.issues;
  return `${
    v.getDotPath(issue) ?? "the body"
  } of the response ${issue.message}`;
}

function newPetToJson({ name, categoryId, status }: NewPet): string {
  checkBigint(categoryId, "categoryId");
  if (typeof name !== "string") {
    throw new TypeError(`name must be a string, not ${typeof name}`);
  }
  // JSON.stringify writes no bigint, and a number has not the digits.
  const rest = status === undefined ? "" : `,"status":${quoted(status)}`;
  return `{"name":${quoted(name)},"categoryId":${categoryId}${rest}}`;
}

function quoted(text: string): string {
  return JSON.stringify(String(text));
}

/** @throws {TypeError} where a value is no `bigint`: a `number` may be rounded already. */
export function checkBigint(value: unknown, name: string): void {
  if (typeof value === "bigint") return;
  throw new TypeError(
    `${name} must be a bigint, as 7n or BigInt("7"), not ${typeof value}`,
  );
}

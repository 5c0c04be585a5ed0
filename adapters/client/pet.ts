/**
 * `createPet` and `getPet` on the client's side: what is sent, and the check of what comes back.
 *
 * @module
 */

import * as v from "valibot";
import { int64Schema, statusSchema } from "../../core/pets/new_pet.ts";
import { type NewPet, type Pet, petId } from "../../core/pets/pet.ts";
import type { Call } from "./answer.ts";
import type { Settings } from "./options.ts";

/**
 * `POST /pets`.
 *
 * @throws {TypeError} if a member has a wrong type. All else is for the service to judge.
 */
export function createPetCall(
  pet: NewPet,
  { base, idempotentCreates }: Settings,
): Call<Pet> {
  return {
    action: "create pet",
    isCreate: true,
    url: `${base}/pets`,
    body: newPetToJson(pet),
    idempotencyKey: idempotentCreates ? randomIdempotencyKey() : undefined,
    read: (body) => readBody(petSchema, body),
  };
}

/**
 * A random UUID (RFC 9562 §5.4) as a structured-field string (RFC 9651 §3.3.3). Browsers have
 * `crypto.randomUUID()` on https pages only.
 */
function randomIdempotencyKey(): string {
  const hex = Array.from(
    crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
  return hex.replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/,
    '"$1-$2-4$3-a$4-$5"',
  );
}

/**
 * `GET /pets/{petId}`.
 *
 * @throws {TypeError} if `id` is not a `bigint`.
 */
export function getPetCall(id: bigint, { base }: Settings): Call<Pet> {
  checkBigint(id, "id");
  return {
    action: "get pet",
    isCreate: false,
    url: `${base}/pets/${id}`,
    read(body) {
      const pet = readBody(petSchema, body);
      if (typeof pet === "string" || pet.id === id) return pet;
      return "id of the response is not the one that was asked for";
    },
  };
}

/** A Pet. The rules for a new name are not checked: by then the service may have others. */
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
  const path = v.getDotPath(issue) ?? "the body";
  return `${path} of the response ${issue.message}`;
}

function newPetToJson({ name, categoryId, status }: NewPet): string {
  checkBigint(categoryId, "categoryId");
  if (typeof name !== "string") {
    throw new TypeError(`name must be a string, not ${typeof name}`);
  }
  // JSON.stringify writes no bigint, and a number would lose digits.
  const rest = status === undefined
    ? ""
    : `,"status":${JSON.stringify(String(status))}`;
  return `{"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`;
}

/** @throws {TypeError} if a value is not a `bigint`: a `number` may be rounded already. */
export function checkBigint(value: unknown, name: string): void {
  if (typeof value === "bigint") return;
  throw new TypeError(
    `${name} must be a bigint, as 7n or BigInt("7"), not ${typeof value}`,
  );
}

/** `createPet`: `POST /pets`. */

import { readJson } from "../http/body.ts";
import { Refusal } from "../http/refusal.ts";
import { jsonReply, type Reply } from "../http/reply.ts";
import type { Call, Context } from "../operation.ts";
import {
  parseIdempotencyKey,
  reusedKey,
  storedKey,
} from "./idempotency_key.ts";
import { parseNewPet } from "./new_pet.ts";
import { type CheckedPet, type Pet, petToJson } from "./pet.ts";

/**
 * Answers 201 with the pet and its `Location` once it is durable; 400 with every problem of the body in
 * one message; 408, 413 and 415 as {@linkcode readJson} does. With an `Idempotency-Key` that added an
 * equal pet before, it adds nothing and answers with that pet; 422 if that pet is another one.
 */
export async function createPet(
  { request }: Call,
  context: Context,
): Promise<Reply> {
  const header = request.headers.get("idempotency-key");
  const key = header === null ? undefined : parseIdempotencyKey(header);
  if (key instanceof Refusal) return key;
  const body = await readJson(request, context);
  if (body instanceof Refusal) return body;
  const newPet = parseNewPet(body);
  if (newPet instanceof Refusal) return newPet;
  const pet = key === undefined
    ? await context.storage.create(newPet)
    : await context.storage.create(newPet, {
      idempotencyKey: await storedKey(request.headers, key),
    });
  const location = context.baseUrl.pet(pet.id);
  if (pet.replayed !== true) {
    return jsonReply(201, petToJson(pet), { location });
  }
  if (!isEqual(pet, newPet)) return reusedKey;
  return jsonReply(201, petToJson(pet), {
    location,
    "idempotency-replayed": "true",
  });
}

function isEqual(pet: Pet, newPet: CheckedPet): boolean {
  return pet.name === newPet.name && pet.categoryId === newPet.categoryId &&
    pet.status === newPet.status;
}

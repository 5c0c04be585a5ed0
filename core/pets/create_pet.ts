/**
 * `createPet`: `POST /pets`.
 *
 * @module
 */

import { readJson } from "../http/body.ts";
import { Refusal } from "../http/refusal.ts";
import { jsonReply, type Reply } from "../http/reply.ts";
import type { Call, Context } from "../operation.ts";
import { parseNewPet } from "./new_pet.ts";
import { petToJson } from "./pet.ts";

/**
 * Answers 201 with the pet and its `Location` once it is durable; 400 with every problem of the body in
 * one message; 408, 413 and 415 as {@linkcode readJson} does.
 */
export async function createPet(
  { request }: Call,
  context: Context,
): Promise<Reply> {
  const body = await readJson(request, context);
  if (body instanceof Refusal) return body;
  const newPet = parseNewPet(body);
  if (newPet instanceof Refusal) return newPet;
  const pet = await context.storage.create(newPet);
  return jsonReply(201, petToJson(pet), {
    location: context.baseUrl.pet(pet.id),
  });
}

/**
 * `createPet`: `POST /pets`.
 *
 * @module
 */

import * as v from "valibot";
import { ApiError } from "../http/refusal.ts";
import { readJson } from "../http/body.ts";
import type { Call, Service } from "../operation.ts";
import { newPetSchema, petToJson } from "./pet.ts";
import { jsonReply, type Reply } from "../http/reply.ts";

/**
 * Answers 201 with the animal and its `Location`, once it is durable; 400 with every problem of the
 * body in one message; 408, 413 and 415 as {@linkcode readJson} does.
 */
export async function createPet(
  { request }: Call,
  service: Service,
): Promise<Reply> {
  const body = await readJson(request, service);
  if (body instanceof ApiError) return body;
  const check = v.safeParse(newPetSchema, body);
  if (!check.success) {
    return new ApiError("bad_request", describe(check.issues));
  }
  const pet = await service.storage.create(check.output);
  return jsonReply(201, petToJson(pet), {
    location: service.baseUrl.pet(pet.id),
  });
}

function describe(issues: readonly v.BaseIssue<unknown>[]): string {
  const problems = issues.map((issue) =>
    `${v.getDotPath(issue) ?? "the body"} ${issue.message}`
  );
  return `Cannot create pet: ${problems.join("; ")}`;
}

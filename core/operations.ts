/** The operations of a service: those of the pet store, and that of the OpenAPI document. */

import type { Context, Operation } from "./operation.ts";
import { createPet, getPet, listPets } from "./pet_store.ts";

/** `GET /openapi.json`: the document itself. */
const getOpenApi: Operation = {
  id: "getOpenApi",
  method: "GET",
  path: "/openapi.json",
  isPublic: true,
  errors: ["bad_request", "internal_error"],
  run: ({ request }, { document }) => document(request),
};

/** The operations, in the order of the document. */
export function operationsOf(
  { hasGetPet }: Pick<Context, "hasGetPet">,
): readonly Operation[] {
  return [listPets, createPet, ...hasGetPet ? [getPet] : [], getOpenApi];
}

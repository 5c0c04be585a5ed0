/** The operations of the service. This table feeds the router, the pipeline and the OpenAPI document. */

import { createPetDescription } from "./openapi/create_pet.ts";
import { getOpenApiDescription } from "./openapi/get_openapi.ts";
import { getPetDescription } from "./openapi/get_pet.ts";
import { listPetsDescription } from "./openapi/list_pets.ts";
import type { Operation } from "./operation.ts";
import { createPet } from "./pets/create_pet.ts";
import { getPet } from "./pets/get_pet.ts";
import { listPets } from "./pets/list_pets.ts";

const COMMON = [
  "bad_request",
  "unauthorized",
  "too_many_requests",
  "internal_error",
  "service_unavailable",
] as const;

/** The operations, in the order of the OpenAPI document. The path that describes them comes last. */
export const operations: readonly Operation[] = [
  {
    method: "GET",
    path: "/pets",
    errors: COMMON,
    run: listPets,
    description: listPetsDescription,
  },
  {
    method: "POST",
    path: "/pets",
    errors: [
      ...COMMON,
      "request_timeout",
      "payload_too_large",
      "unsupported_media_type",
      "idempotency_key_reused",
    ],
    run: createPet,
    description: createPetDescription,
  },
  {
    method: "GET",
    path: "/pets/{petId}",
    isDeprecated: true,
    errors: [...COMMON, "not_found"],
    run: getPet,
    description: getPetDescription,
  },
  {
    method: "GET",
    path: "/openapi.json",
    isPublic: true,
    errors: ["bad_request"],
    run: ({ request }, { document }) => document(request),
    description: getOpenApiDescription,
  },
];

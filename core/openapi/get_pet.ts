/** `getPet` in the OpenAPI document. */

import type { JsonObject } from "../operation.ts";
import { petNotFound } from "../pets/get_pet.ts";
import {
  commonErrors,
  errors,
  fields,
  REX,
  storageErrors,
  success,
  withFields,
} from "./responses.ts";

/** The operation, without the parts that all operations share. */
export const getPetDescription: JsonObject = {
  operationId: "getPet",
  summary: "Get an animal",
  description:
    "Returns one pet. Deprecated, and announced to be removed on 5 December 2030: use `GET /pets` with a `status` filter instead.",
  tags: ["animals"],
  deprecated: true,
  parameters: [{
    name: "petId",
    in: "path",
    required: true,
    description:
      "Identifier of the pet to retrieve. Anything but a positive 64-bit integer in canonical decimal form cannot be the `id` of a pet: 404.",
    schema: { type: "integer", format: "int64" },
    example: 7,
  }],
  responses: withFields(
    {
      "200": success("The pet.", {
        schema: "Pet",
        examples: { pet: { summary: "A pet", value: REX } },
      }),
      ...errors([
        {
          code: "not_found",
          when: "The requested animal could not be found.",
          examples: {
            unknown: ["No such pet", petNotFound("8")],
          },
        },
        ...commonErrors,
        storageErrors,
      ]),
    },
    fields("Sunset", "Deprecation", "Link: Successor-Link"),
  ),
};

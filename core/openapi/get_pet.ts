/** `getPet` in the OpenAPI document. */

import type { JsonObject } from "../operation.ts";
import { petNotFound } from "../pets/get_pet.ts";
import { json, keyErrors, refused, REX } from "./responses.ts";

/** The operation, without the parts that all operations share. */
export const getPetDescription: JsonObject = {
  operationId: "getPet",
  summary: "Get an animal",
  description:
    "Returns one pet. Deprecated, and announced to be removed on 5 December 2030: use `GET /pets` with a `status` filter instead. Its responses say so too, in `Deprecation`, `Sunset` and `Link`.",
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
  responses: {
    "200": { description: "The pet.", content: json("Pet", { pet: REX }) },
    "404": refused("The requested animal could not be found.", {
      unknown: petNotFound("8"),
    }),
    ...keyErrors,
  },
};

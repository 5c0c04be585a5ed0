/** `createPet` in the OpenAPI document. */

import { missing } from "../http/body.ts";
import type { Refusal } from "../http/refusal.ts";
import type { JsonObject } from "../operation.ts";
import {
  KEY_PATTERN,
  malformedKey,
  reusedKey,
} from "../pets/idempotency_key.ts";
import { parseNewPet } from "../pets/new_pet.ts";
import { json, keyErrors, refused, REX } from "./responses.ts";

const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A key of your own for this pet, such as a new UUID: 1 to 255 visible ASCII characters, in quotes or bare. Sent again with an equal pet within 24 hours, it adds nothing and gets the same 201. It belongs to your API key.",
  schema: { type: "string", pattern: KEY_PATTERN },
};

/** The operation, without the parts that all operations share. */
export const createPetDescription: JsonObject = {
  operationId: "createPet",
  summary: "Add an animal",
  description:
    "Adds a pet and gives it an `id`. A 201 is a promise: the pet is stored durably, and every listing that starts afterwards sees it. The same pet sent twice is two pets, unless both times have the same `Idempotency-Key`.",
  tags: ["animals"],
  parameters: [idempotencyKey],
  requestBody: {
    description:
      "The pet, in UTF-8, without a `Content-Encoding`, and at most 64 KiB unless the service is configured otherwise.",
    required: true,
    content: json("NewPet", {
      short: { name: "Rex", categoryId: 1 },
      full: { name: "Zoë", categoryId: 2, status: "pending" },
    }),
  },
  responses: {
    "201": {
      description: "The pet is added.",
      headers: {
        Location: {
          description:
            "Where the pet is: a reference to resolve against the address of the request.",
          schema: { type: "string", format: "uri-reference" },
        },
        "Idempotency-Replayed": {
          description:
            "`true` if the pet was added before, with the same `Idempotency-Key`.",
          schema: { type: "string" },
        },
      },
      content: json("Pet", { added: REX }),
    },
    "400": refused(
      "The body is missing, is not JSON in UTF-8, lacks required members, or has invalid values; the message names each member and what is wrong with it. Or the header `Idempotency-Key` or `Host` is malformed.",
      {
        members: parseNewPet({ categoryId: 1.5 }) as Refusal,
        missing,
        key: malformedKey,
      },
    ),
    "422": refused("The `Idempotency-Key` was sent before with another pet.", {
      reused: reusedKey,
    }),
    ...keyErrors,
  },
};

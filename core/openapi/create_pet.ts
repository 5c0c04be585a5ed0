/** `createPet` in the OpenAPI document. */

import type { JsonObject } from "../operation.ts";
import {
  late,
  missing,
  notJson,
  tooLarge,
  wrongCoding,
  wrongMediaType,
} from "../http/body.ts";
import { outcomeUnknown, type Refusal } from "../http/refusal.ts";
import {
  KEY_PATTERN,
  malformedKey,
  reusedKey,
} from "../pets/idempotency_key.ts";
import { parseNewPet } from "../pets/new_pet.ts";
import {
  commonErrors,
  errors,
  fields,
  hostErrors,
  REX,
  success,
  unavailableExample,
} from "./responses.ts";

const invalidPet = parseNewPet({ categoryId: 1.5 }) as Refusal;

const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A key of your own for this pet, such as a new UUID in quotes: 1 to 255 visible ASCII characters, the bare form is taken too. Sent again with an equal pet within 24 hours, it adds nothing and gets the same 201. It belongs to your API key.",
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
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/NewPet" },
        examples: {
          short: {
            summary: "Only what is required",
            value: { name: "Rex", categoryId: 1 },
          },
          full: {
            summary: "With a status",
            value: { name: "Zoë", categoryId: 2, status: "pending" },
          },
        },
      },
    },
  },
  responses: {
    "201": success("The pet is added.", {
      schema: "Pet",
      headers: fields("Location", "Idempotency-Replayed"),
      examples: { added: { summary: "The pet with its id", value: REX } },
    }),
    ...errors([
      {
        code: "bad_request",
        when:
          "The body is missing, is not JSON in UTF-8, lacks required members, or has invalid values; the message names each member and what is wrong with it. Or the header `Idempotency-Key` or `Host` is malformed.",
        examples: {
          members: ["Members are missing or wrong", invalidPet],
          missing: ["There is no body", missing],
          json: ["The body is not JSON", notJson],
          key: ['Idempotency-Key: "', malformedKey],
          ...hostErrors.examples,
        },
      },
      {
        code: "request_timeout",
        when: "The body stopped arriving.",
        examples: { late: ["The body is late", late] },
      },
      {
        code: "payload_too_large",
        when:
          "The body is too large, or comes in hundreds of tiny pieces. The rest of it is not read.",
        examples: { large: ["More than 64 KiB", tooLarge(65_536)] },
      },
      {
        code: "unsupported_media_type",
        when:
          "The body is of another media type than JSON, or has a `Content-Encoding`.",
        examples: {
          type: ["Not JSON", wrongMediaType],
          coding: ["Compressed", wrongCoding],
        },
      },
      {
        code: "idempotency_key_reused",
        when: "The `Idempotency-Key` was sent before with another pet.",
        examples: { reused: ["A key for two pets", reusedKey] },
      },
      ...commonErrors,
      {
        code: "service_unavailable",
        when:
          "The storage cannot be reached now. With `Retry-After` nothing was changed, and the request can be sent again. Without it the pet may have been added: send the request again if it has an `Idempotency-Key`, else list the pets first.",
        examples: {
          unavailable: unavailableExample,
          unknown: ["The pet may have been added", outcomeUnknown],
        },
      },
    ]),
  },
};

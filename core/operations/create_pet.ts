/** `createPet`: `POST /pets`. */

import { notJson, readText } from "../http/body.ts";
import { type Answer, jsonAnswer } from "../answer.ts";
import { Refusal } from "../errors.ts";
import { parseWithInt64 } from "../int64.ts";
import type { JsonObject } from "../openapi/schemas.ts";
import { newPetExamples, petExamples } from "../openapi/examples.ts";
import { field, json, refused } from "../openapi/responses.ts";
import { parseNewPet } from "../pets/new_pet.ts";
import { petToJson } from "../pets/pet.ts";
import {
  KEY_PATTERN,
  parseIdempotencyKey,
  reusedKey,
  storedKey,
} from "../pets/idempotency_key.ts";
import {
  type Call,
  COMMON_ERRORS,
  type Context,
  type Operation,
} from "../operation.ts";

/**
 * Answers 201 with the pet and its `Location` once it is durable; 400 with every problem of the
 * body in one message; 408, 413 and 415 as {@linkcode readText} does.
 *
 * If the `Idempotency-Key` has already added an equal pet, adds nothing and answers with that pet.
 * If it added a different pet, answers 422.
 */
async function run(
  { request, scope, readBody }: Call,
  context: Context,
): Promise<Answer> {
  const { storage, baseUrl, getPet } = context;
  const header = request.headers.get("idempotency-key");
  const key = header === null ? undefined : parseIdempotencyKey(header);
  if (key instanceof Refusal) return key;
  const text = await readText(request, context, readBody);
  if (typeof text !== "string") return text;
  const body = parseWithInt64(text, "categoryId");
  if (body === undefined) return notJson;
  const newPet = parseNewPet(body);
  if (newPet instanceof Refusal) return newPet;
  const options = key === undefined
    ? undefined
    : { idempotencyKey: await storedKey(scope, key) };
  const pet = await storage.create(newPet, options);
  const isEqual = pet.name === newPet.name &&
    pet.categoryId === newPet.categoryId && pet.status === newPet.status;
  if (pet.replayed === true && !isEqual) return reusedKey;
  const location = baseUrl.link(`/pets/${pet.id}`, `pets/${pet.id}`);
  return jsonAnswer(201, petToJson(pet), {
    ...getPet && { location },
    ...pet.replayed === true && { "idempotent-replayed": "true" },
  });
}

const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A key of your own for this pet, such as a new UUID: 1 to 255 visible ASCII characters, in quotes or bare. Sent again with an equal pet, while the service keeps the key, it adds nothing and gets the same 201. It belongs to your API key.",
  schema: { type: "string", pattern: KEY_PATTERN },
};

const location = field(
  "Where the pet is: a reference to resolve against the address of the request.",
  { format: "uri-reference" },
);
const linkToGetPet: JsonObject = {
  getPet: {
    description: "Get the pet that was added.",
    operationId: "getPet",
    parameters: { petId: "$response.body#/id" },
  },
};

const describe = (hasGetPet: boolean): JsonObject => ({
  operationId: "createPet",
  summary: "Add an animal",
  description:
    "Adds a pet and gives it an id. A 201 is a promise: the pet is stored durably, and every listing that starts afterwards sees it. Sending a pet twice adds two pets, unless both requests have the same Idempotency-Key.",
  tags: ["animals"],
  parameters: [idempotencyKey],
  requestBody: {
    description: "The pet, in UTF-8, without a Content-Encoding.",
    required: true,
    content: json("NewPet", newPetExamples),
  },
  responses: {
    "201": {
      description: "The pet is added.",
      headers: {
        ...hasGetPet && { Location: location },
        "Idempotent-Replayed": field(
          "`true` if the pet was added before, with the same `Idempotency-Key`.",
        ),
      },
      content: json("Pet", petExamples),
      ...hasGetPet && { links: linkToGetPet },
    },
    "400": refused(
      "The body is missing, is not JSON in UTF-8, lacks required members, or has invalid values; the message names each member and what is wrong with it. Or the header `Idempotency-Key` or `Host` is malformed.",
      parseNewPet({ categoryId: null }) as Refusal,
    ),
    "422": refused(
      "The `Idempotency-Key` was sent before with another pet.",
      reusedKey,
    ),
  },
});

export const createPet: Operation = {
  method: "POST",
  path: "/pets",
  errors: [
    ...COMMON_ERRORS,
    "request_timeout",
    "payload_too_large",
    "unsupported_media_type",
    "idempotency_key_reused",
  ],
  run,
  description: describe(true),
};

/** `createPet` after the removal of `getPet`: a pet has no address. */
export const createPetAlone: Operation = {
  ...createPet,
  description: describe(false),
};

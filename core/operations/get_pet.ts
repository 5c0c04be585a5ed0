/** `getPet`: `GET /pets/{petId}`, deprecated, to be removed on 5 December 2030. */

import type { BaseUrl } from "../http/base_url.ts";
import { type Answer, type Fields, jsonAnswer } from "../answer.ts";
import { quote, Refusal } from "../errors.ts";
import { createRouter } from "../router.ts";
import type { JsonObject } from "../openapi/schemas.ts";
import { petExamples } from "../openapi/examples.ts";
import { field, headerRefs, json, refused } from "../openapi/responses.ts";
import { parsePetId, petToJson } from "../pets/pet.ts";
import {
  type Call,
  COMMON_ERRORS,
  type Context,
  type Operation,
} from "../operation.ts";

/**
 * Answers 200 with the pet; 404 if it does not exist, or if the parameter cannot be the id of a
 * pet.
 */
async function run({ parameter }: Call, { storage }: Context): Promise<Answer> {
  const id = parsePetId(parameter);
  const pet = id === undefined ? undefined : await storage.get(id);
  return pet === undefined
    ? petNotFound(parameter)
    : jsonAnswer(200, petToJson(pet));
}

/** Makes the 404, which quotes the id. */
function petNotFound(petId: string): Refusal {
  return new Refusal(
    "not_found",
    `Cannot get pet: no pet has the id ${quote(petId)}`,
  );
}

/** Makes the router of the path of `getPet` after its removal, which answers every method. */
export function removedPet(
  baseUrl: BaseUrl,
): (path: string) => Answer | undefined {
  const { method, path } = getPet;
  const route = baseUrl.path + path;
  const find = createRouter([{ method, path: route }]);
  const refusal = new Refusal(
    "not_found",
    "GET /pets/{petId} was removed on 5 December 2030. Use GET /pets with a status",
    { link: successor(baseUrl) },
  );
  const removed = { ...refusal, route };
  return (path) => find("GET", path) && removed;
}

/** Names what replaces the operation (RFC 5829 §3.2). */
function successor(baseUrl: BaseUrl): string {
  return `<${baseUrl.link("/pets", "../pets")}>; rel="successor-version"`;
}

/** Makes the header fields that announce the deprecation, the removal date and the replacement. */
function deprecation(baseUrl: BaseUrl): Fields {
  return {
    sunset: "Thu, 05 Dec 2030 00:00:00 GMT", // RFC 8594
    deprecation: "@1764892800", // RFC 9745: 5 December 2025
    link: successor(baseUrl),
  };
}

const description: JsonObject = {
  operationId: "getPet",
  summary: "Get an animal",
  description:
    "Returns one pet. Deprecated, and planned to be removed on 5 December 2030: use GET /pets with a status filter instead. Its responses say so too, in Deprecation, Sunset and Link.",
  tags: ["animals"],
  deprecated: true,
  parameters: [{
    name: "petId",
    in: "path",
    required: true,
    description:
      "Identifier of the pet to retrieve. Anything but a positive 64-bit integer in canonical decimal form cannot be the id of a pet: 404.",
    schema: { type: "integer", format: "int64" },
    example: 1,
  }],
  responses: {
    "200": { description: "The pet.", content: json("Pet", petExamples) },
    "404": refused(
      "The requested animal could not be found.",
      petNotFound("8"),
    ),
  },
};

export const getPet: Operation = {
  method: "GET",
  path: "/pets/{petId}",
  errors: [...COMMON_ERRORS, "not_found"],
  fields: deprecation,
  headers: {
    ...headerRefs(["Deprecation", "Sunset"]),
    Link: field(
      'What replaces the operation (RFC 5829 §3.2), such as `<../pets>; rel="successor-version"`.',
      { pattern: '^<[^<>]*>; rel="successor-version"$' },
    ),
  },
  run,
  description,
};

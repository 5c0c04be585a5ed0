/**
 * The pet store: its three operations, in the order of the interface. For each: its method and path,
 * the errors that it answers with, and what it does. What surrounds them is in `service.ts`, and the
 * prose about them in `openapi/operations.ts`.
 */

import { jsonAnswer } from "./answer.ts";
import {
  cannot,
  malformedIdempotencyKey,
  notJson,
  petNotFound,
  petRemoved,
  type Refusal,
  reusedIdempotencyKey,
} from "./errors.ts";
import type { BaseUrl } from "./http/base_url.ts";
import { readText } from "./http/body.ts";
import { parseWithInt64 } from "./int64.ts";
import type { Operation } from "./operation.ts";
import { parseIdempotencyKey, storedKey } from "./pets/idempotency_key.ts";
import { parseNewPet } from "./pets/new_pet.ts";
import { nextPage, parsePage } from "./pets/page.ts";
import { parsePetId, petsToJson, petToJson } from "./pets/pet.ts";
import { Problems } from "./pets/problems.ts";

/** The errors of every operation that needs a key and uses the storage. */
const COMMON_ERRORS = [
  "bad_request",
  "unauthorized",
  "too_many_requests",
  "internal_error",
  "service_unavailable",
] as const;

/**
 * Answers 200 with a page of pets as a bare array, ascending by id, and with
 * `Link: <…>; rel="next"` (RFC 8288) exactly when more pets match; 400 for a wrong parameter.
 */
export const listPets: Operation = {
  id: "listPets",
  method: "GET",
  path: "/pets",
  errors: COMMON_ERRORS,
  async run({ query }, { storage, baseUrl }) {
    const page = parsePage(query);
    if (page instanceof Problems) return cannot("list pets", page);
    const { pets, last } = await storage.list(page);
    const body = petsToJson(pets);
    if (last === undefined) return jsonAnswer(200, body);
    const next = `?${nextPage(page, last)}`;
    const link = `<${baseUrl.link(`/pets${next}`, next)}>; rel="next"`;
    return jsonAnswer(200, body, { link });
  },
};

/**
 * Answers 201 with the pet and its `Location` once it is durable; 400 with every problem of the
 * body in one message; 408, 413 and 415 as {@linkcode readText} does.
 *
 * If the `Idempotency-Key` has already added an equal pet, adds nothing and answers with that pet.
 * If it added a different pet, answers 422.
 */
export const createPet: Operation = {
  id: "createPet",
  method: "POST",
  path: "/pets",
  errors: [
    ...COMMON_ERRORS,
    "request_timeout",
    "payload_too_large",
    "unsupported_media_type",
    "idempotency_key_reused",
  ],
  async run({ request, scope, readBody }, context) {
    const { storage, baseUrl, getPet } = context;
    const header = request.headers.get("idempotency-key");
    const key = header === null ? undefined : parseIdempotencyKey(header);
    if (header !== null && key === undefined) return malformedIdempotencyKey;
    const text = await readText(request, context, readBody);
    if (typeof text !== "string") return text;
    const body = parseWithInt64(text, "categoryId");
    if (body === undefined) return notJson;
    const newPet = parseNewPet(body);
    if (newPet instanceof Problems) return cannot("create pet", newPet);
    const options = key === undefined
      ? undefined
      : { idempotencyKey: await storedKey(scope, key) };
    const pet = await storage.create(newPet, options);
    const isEqual = pet.name === newPet.name &&
      pet.categoryId === newPet.categoryId && pet.status === newPet.status;
    if (pet.replayed === true && !isEqual) return reusedIdempotencyKey;
    const location = baseUrl.link(`/pets/${pet.id}`, `pets/${pet.id}`);
    return jsonAnswer(201, petToJson(pet), {
      ...getPet && { location },
      ...pet.replayed === true && { "idempotent-replayed": "true" },
    });
  },
};

/**
 * Answers 200 with the pet; 404 if it does not exist, or if the parameter cannot be the id of a
 * pet. Deprecated, to be removed on 5 December 2030: every response says so.
 */
export const getPet: Operation = {
  id: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  errors: [...COMMON_ERRORS, "not_found"],
  fields: (baseUrl) => ({
    sunset: "Thu, 05 Dec 2030 00:00:00 GMT", // RFC 8594
    deprecation: "@1764892800", // RFC 9745: 5 December 2025
    link: successor(baseUrl),
  }),
  async run({ parameter }, { storage }) {
    const id = parsePetId(parameter);
    const pet = id === undefined ? undefined : await storage.get(id);
    return pet === undefined
      ? petNotFound(parameter)
      : jsonAnswer(200, petToJson(pet));
  },
};

/** The three operations. */
export const petStore: readonly Operation[] = [listPets, createPet, getPet];

/** The answer to every method on the path of `getPet` after its removal. */
export function removedPet(baseUrl: BaseUrl): Refusal {
  return petRemoved(successor(baseUrl));
}

/** Names what replaces `getPet` (RFC 5829 §3.2). */
function successor(baseUrl: BaseUrl): string {
  return `<${baseUrl.link("/pets", "../pets")}>; rel="successor-version"`;
}

/**
 * The pet store: its three operations, in the order of the interface. For each: its method and path,
 * the errors that it answers with, and what it does. `service.ts` has what comes before and after, and
 * `openapi/descriptions.ts` the prose about them.
 */

import { jsonAnswer } from "./answer.ts";
import {
  invalid,
  malformedIdempotencyKey,
  notJson,
  petNotFound,
  reusedIdempotencyKey,
} from "./errors.ts";
import type { BaseUrl } from "./http/base_url.ts";
import { readText } from "./http/body.ts";
import { parseWithInt64 } from "./int64.ts";
import type { Operation } from "./operation.ts";
import {
  idempotencyDigest,
  parseIdempotencyKey,
} from "./pets/idempotency_key.ts";
import { parseNewPet } from "./pets/new_pet.ts";
import { parsePage, queryAfter } from "./pets/page.ts";
import {
  type CheckedPet,
  parsePetId,
  type Pet,
  petsToJson,
  petToJson,
} from "./pets/pet.ts";
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
    if (page instanceof Problems) return invalid("list pets", page); // 400
    const { pets, last } = await storage.list(page);
    const body = petsToJson(pets);
    if (last === undefined) return jsonAnswer(200, body); // no more pets match
    const next = `?${queryAfter(page, last)}`;
    const link = `<${baseUrl.link(`/pets${next}`, next)}>; rel="next"`;
    return jsonAnswer(200, body, { link });
  },
};

/**
 * Answers 201 with the pet and its `Location` once it is durable. If the `Idempotency-Key` has
 * already added an equal pet, adds nothing and answers with that pet.
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
    const { storage, baseUrl, limits, hasGetPet } = context;
    const header = request.headers.get("idempotency-key"); // null if there is none
    const key = header === null ? undefined : parseIdempotencyKey(header);
    if (header !== null && key === undefined) return malformedIdempotencyKey; // 400

    const text = await readText(request, limits, readBody);
    if (typeof text !== "string") return text; // 400, 408, 413 or 415
    const body = parseWithInt64(text, "categoryId");
    if (body === undefined) return notJson; // 400
    const newPet = parseNewPet(body);
    if (newPet instanceof Problems) return invalid("create pet", newPet); // 400

    const options = key === undefined
      ? undefined
      : { idempotencyKey: await idempotencyDigest(scope, key) };
    const pet = await storage.create(newPet, options);
    const isReplay = pet.replayed === true;
    if (isReplay && !isEqual(pet, newPet)) return reusedIdempotencyKey; // 422

    const location = baseUrl.link(`/pets/${pet.id}`, `pets/${pet.id}`);
    return jsonAnswer(201, petToJson(pet), {
      ...hasGetPet ? { location } : {},
      ...isReplay ? { "idempotent-replayed": "true" } : {},
    });
  },
};

function isEqual(pet: Pet, other: CheckedPet): boolean {
  return pet.name === other.name && pet.categoryId === other.categoryId &&
    pet.status === other.status;
}

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
      ? petNotFound(parameter) // 404
      : jsonAnswer(200, petToJson(pet));
  },
};

/** Names what replaces `getPet` (RFC 5829 §3.2). */
export function successor(baseUrl: BaseUrl): string {
  return `<${baseUrl.link("/pets", "../pets")}>; rel="successor-version"`;
}

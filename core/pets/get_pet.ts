/**
 * `getPet`: `GET /pets/{petId}`, deprecated, to be removed on 5 December 2030.
 *
 * @module
 */

import type { BaseUrl } from "../http/base_url.ts";
import { ApiError, quote } from "../http/refusal.ts";
import type { Call, Service } from "../operation.ts";
import { checkJson, parsePetId, type PetId, petToJson } from "./pet.ts";
import { jsonOf, type PetStorage } from "./pet_storage.ts";
import { jsonReply, type Reply } from "../http/reply.ts";

/** Answers 200 with the animal; 404 where there is none, or where the text can be no animal's id. */
export async function getPet(
  { petId }: Call,
  { storage }: Service,
): Promise<Reply> {
  const id = parsePetId(petId);
  const json = id === undefined
    ? undefined
    : await (jsonOf(storage.get)?.(id) ?? readPet(storage, id));
  if (json === undefined) {
    return new ApiError(
      "not_found",
      `Cannot get pet: there is none with the id ${quote(petId)}`,
    );
  }
  return jsonReply(200, checkJson(json));
}

/** Does what `storage.get.json` does. */
async function readPet(
  storage: PetStorage,
  id: PetId,
): Promise<string | undefined> {
  const pet = await storage.get(id);
  return pet === undefined ? undefined : petToJson(pet);
}

/** The fields that every response of `getPet` carries, errors too. */
export function deprecationHeaders(
  { pets }: BaseUrl,
): {
  readonly sunset: string;
  readonly deprecation: string;
  readonly link: string;
} {
  return {
    sunset: "Thu, 05 Dec 2030 00:00:00 GMT", // RFC 8594
    deprecation: "@1764892800", // RFC 9745: 5 December 2025
    link: `<${pets}>; rel="successor-version"`, // RFC 5829 §3.2
  };
}

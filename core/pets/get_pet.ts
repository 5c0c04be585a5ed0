/** `getPet`: `GET /pets/{petId}`, deprecated, to be removed on 5 December 2030. */

import type { BaseUrl } from "../http/base_url.ts";
import { quote, Refusal } from "../http/refusal.ts";
import { jsonReply, type Reply } from "../http/reply.ts";
import type { Call, Context } from "../operation.ts";
import { parsePetId, petToJson } from "./pet.ts";

/** Answers 200 with the pet; 404 if there is no such pet, or if the text can be no pet's id. */
export async function getPet(
  { petId }: Call,
  { storage }: Context,
): Promise<Reply> {
  const id = parsePetId(petId);
  const pet = id === undefined ? undefined : await storage.get(id);
  return pet === undefined
    ? petNotFound(petId)
    : jsonReply(200, petToJson(pet));
}

/** The 404 for an id as it was sent. */
export function petNotFound(petId: string): Refusal {
  return new Refusal(
    "not_found",
    `Cannot get pet: no pet has the id ${quote(petId)}`,
  );
}

/** The fields that every response of `getPet` carries, errors too. */
export function deprecationHeaders({ pets }: BaseUrl): {
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

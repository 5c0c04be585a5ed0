/**
 * `listPets`: `GET /pets`.
 *
 * @module
 */

import { ApiError } from "../http/refusal.ts";
import type { Call, Service } from "../operation.ts";
import { nextPage, parsePage } from "./page.ts";
import { checkJson, petId, petsToJson } from "./pet.ts";
import {
  jsonOf,
  type JsonPage,
  type PetQuery,
  type PetStorage,
} from "./pet_storage.ts";
import { parseQuery } from "../http/query.ts";
import { jsonReply, type Reply } from "../http/reply.ts";

/**
 * Answers 200 with a page of animals as a bare array, ascending by id, and with
 * `Link: <…>; rel="next"` (RFC 8288) exactly where more animals match; 400 for a wrong parameter.
 */
export async function listPets(
  { query }: Call,
  { storage, baseUrl }: Service,
): Promise<Reply> {
  const page = parsePage(parseQuery(query));
  if (page instanceof ApiError) return page;
  const { json, last } = await (jsonOf(storage.list)?.(page) ??
    readPage(storage, page));
  const body = checkJson(json);
  if (last === undefined) return jsonReply(200, body);
  return jsonReply(200, body, {
    link: `<${baseUrl.page(nextPage(page, petId(last)))}>; rel="next"`,
  });
}

/** Does what `storage.list.json` does. */
async function readPage(
  storage: PetStorage,
  query: PetQuery,
): Promise<JsonPage> {
  // One animal more than the page holds tells whether there is a next one.
  const found = await storage.list({ ...query, limit: query.limit + 1 });
  const pets = found.slice(0, query.limit);
  const last = found.length > query.limit ? pets.at(-1)?.id : undefined;
  return { json: petsToJson(pets), last };
}

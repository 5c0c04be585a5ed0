/** `listPets`: `GET /pets`. */

import { parseQuery } from "../http/query.ts";
import { Refusal } from "../http/refusal.ts";
import { jsonReply, type Reply } from "../http/reply.ts";
import type { Call, Context } from "../operation.ts";
import { nextPage, parsePage } from "./page.ts";
import { petId, petsToJson } from "./pet.ts";

/**
 * Answers 200 with a page of pets as a bare array, ascending by id, and with
 * `Link: <…>; rel="next"` (RFC 8288) exactly when more pets match; 400 for a wrong parameter.
 */
export async function listPets(
  { query }: Call,
  { storage, baseUrl }: Context,
): Promise<Reply> {
  const page = parsePage(parseQuery(query));
  if (page instanceof Refusal) return page;
  const found = await storage.list(page);
  const body = petsToJson(found.pets);
  if (found.last === undefined) return jsonReply(200, body);
  return jsonReply(200, body, {
    link: `<${baseUrl.page(nextPage(page, petId(found.last)))}>; rel="next"`,
  });
}

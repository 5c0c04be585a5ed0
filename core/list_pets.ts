/**
 * `listPets`: `GET /pets`.
 *
 * @module
 */

import { ApiError } from "./error.ts";
import type { Call, Service } from "./operation.ts";
import { nextPage, parsePage } from "./page.ts";
import { petsToJson } from "./pet.ts";
import { jsonReply, type Reply } from "./reply.ts";

/**
 * Answers 200 with a page of animals as a bare array, ascending by id, and with
 * `Link: <…>; rel="next"` (RFC 8288) exactly where more animals match; 400 for a wrong parameter.
 */
export async function listPets(
  { query }: Call,
  { storage, baseUrl }: Service,
): Promise<Reply> {
  // The constructor takes one leading "?" away: without this one, "??limit=5" would set the limit.
  const page = parsePage(new URLSearchParams(`?${query}`));
  if (page instanceof ApiError) return page;
  // One animal more than the page holds tells whether there is a next one.
  const found = await storage.list({ ...page, limit: page.limit + 1 });
  const pets = found.slice(0, page.limit);
  const last = pets.at(-1);
  if (last === undefined || found.length <= page.limit) {
    return jsonReply(200, petsToJson(pets));
  }
  return jsonReply(200, petsToJson(pets), {
    link: `<${baseUrl.page(nextPage(page, last.id))}>; rel="next"`,
  });
}

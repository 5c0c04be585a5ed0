/** A check of many requests that are answered alike. */

import assert from "node:assert/strict";
import { ask, type Question } from "./ask.ts";
import { type Check, Unseen } from "./clause.ts";
import { assertRefused } from "./error_reply.ts";
import { add, named, newName } from "./own_pets.ts";

/** A pet to add, and its create. */
export const REX = '{"name":"{name}","categoryId":1}';
export const CREATE = `POST /pets ${REX}`;

/** Requests that begin alike. */
export function each(start: string, ...ends: readonly string[]): string[] {
  return ends.map((end) => start + end);
}

interface Alike {
  /** Each request is sent once with each of these. Default: with the key. */
  readonly asks?: readonly Question[];
  /** What the message has. */
  readonly says?: readonly string[];
  /** Fields of the answer, whatever the order of their parts. */
  readonly fields?: Readonly<Record<string, string>>;
}

/**
 * Checks that all requests are answered with a status, and that those that are refused add nothing. A
 * request is `METHOD PATH BODY`; in it `{id}` is the id of a pet, `{name}` a new name, and `{above}` the
 * address above `/v1`.
 */
export function answers(
  status: number,
  requests: readonly string[],
  { asks = [{}], says = [], fields = {} }: Alike = {},
): Check {
  return async (service) => {
    const has = (place: string) => requests.join().includes(place);
    const id = has("{id}") ? `${(await add(service)).id}` : "";
    const name = newName();
    const above = service.base.replace(/\/v1$/, "");
    for (const request of requests) {
      const [, method = "", path = "", body = ""] =
        /^(\S+) (\S*) ?([^]*)$/.exec(
          request.replace("{id}", id).replaceAll("{name}", name)
            .replace("{above}", above),
        ) ?? [];
      for (const question of asks) {
        const sent = body === "" ? question : { ...question, body };
        const answer = await ask(service, method, path, sent);
        assert.equal(answer.status, status, answer.text);
        const message = status < 400 ? "" : assertRefused(answer, status);
        const missing = says.filter((words) => !message.includes(words));
        assert.deepEqual(missing, [], "missing in the message");
        if (status === 204) assert.equal(answer.text, "");
        for (const [field, value] of Object.entries(fields)) {
          const sent = parts(answer.headers.get(field));
          assert.deepEqual(sent, parts(value), field);
        }
      }
    }
    if (status < 400 || !has("{name}")) return;
    try {
      assert.deepEqual(await named(service, name), [], "a pet was added");
    } catch (error) {
      if (!(error instanceof Unseen)) throw error; // the status is seen
    }
  };
}

function parts(value: string | null): readonly string[] | undefined {
  return value?.split(/, */).sort();
}

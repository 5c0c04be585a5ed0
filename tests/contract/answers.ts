/** A check of many requests that are answered alike. @module */

import assert from "node:assert/strict";
import { ask, type Question } from "./ask.ts";
import type { Check } from "./clause.ts";
import { assertRefused } from "./error_reply.ts";
import { add, named, newName } from "./own_pets.ts";

/** What is not plain from the requests and the status. */
export interface Alike {
  /** Each request is sent once with each of these. Default: with the key. */
  readonly asks?: readonly Question[];
  /** What the message has. */
  readonly says?: readonly string[];
  /** Fields of the answer, whatever the order of the parts; `null`: not there. */
  readonly fields?: Readonly<Record<string, string | null>>;
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
    const { id } = await add(service);
    const name = newName();
    const above = service.base.replace(/\/v1$/, "");
    for (const request of requests) {
      const [, method = "", path = "", body = ""] =
        /^(\S+) (\S*) ?([^]*)$/.exec(
          request.replace("{id}", `${id}`).replaceAll("{name}", name)
            .replace("{above}", above),
        ) ?? [];
      for (const question of asks) {
        const content = body === "" ? {} : { body };
        const answer = await ask(service, method, path, {
          ...content,
          ...question,
        });
        if (status < 400) assert.equal(answer.status, status, answer.text);
        else {
          const message = assertRefused(answer, status);
          const missing = says.filter((words) => !message.includes(words));
          assert.deepEqual(missing, [], `${request}: ${message}`);
        }
        if (status === 204) assert.equal(answer.text, "");
        for (const [field, value] of Object.entries(fields)) {
          assert.deepEqual(parts(answer.headers.get(field)), parts(value));
        }
      }
    }
    if (status >= 400) assert.deepEqual(await named(service, name), []);
  };
}

function parts(value: string | null): readonly string[] | undefined {
  return value?.split(/, */).sort();
}

/**
 * docs/examples/petstore.http is true: each request gets the status in its title, and what the
 * title says.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Answer, ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import { pathOf, readText } from "../support/repository.ts";

const FOLDER = "docs/examples";

/** What else the answers have, by number. */
const EXPECTED: Readonly<Record<number, (answer: Answer) => void>> = {
  3: ({ headers }) => assert.equal(headers.get("idempotent-replayed"), "true"),
  4: ({ text }) => assert.match(text, /"categoryId":9007199254740993,/),
  5: ({ headers }) => assert.match(headers.get("link") ?? "", /rel="next"/),
  6: ({ text }) => assert.match(text, /^\[\{"id":2,"name":"Tom"[^}]*\}\]$/),
  7: ({ text }) => assert.match(text, /name must .*; categoryId must /),
  8: ({ headers }) => assert.match(`${headers.get("www-authenticate")}`, /^B/),
  10: ({ headers }) => assert.match(headers.get("allow") ?? "", /GET.*POST/),
  12: ({ headers }) => assert.equal(headers.get("accept"), "application/json"),
};

test("petstore.http: twelve requests, each with the answer that its title promises", async () => {
  const service = handleService();
  const [head = "", ...requests] = readText(`${FOLDER}/petstore.http`)
    .split(/^### /m);
  const variables: Readonly<Record<string, string>> = Object.fromEntries(
    Array.from(
      head.matchAll(/^@(\w+) = (.*)$/gm),
      ([, name = "", value = ""]) => [name, value],
    ),
  );
  const known = { base: "http://127.0.0.1:8000/v1", key: service.key };
  assert.deepEqual({ ...variables }, known);
  for (const [index, text] of requests.entries()) {
    const filled = text.replace(
      /\{\{(\w+)\}\}/g,
      (_all, name: string) => variables[name] ?? assert.fail(name),
    );
    const [title = "", ...lines] = filled.trim().split("\n");
    const end = lines.includes("") ? lines.indexOf("") : lines.length;
    const [target = "", ...fields] = lines.slice(0, end);
    const [method = "", address = ""] = target.split(" ");
    const headers = new Headers(
      fields.map((field) => field.split(": ", 2) as [string, string]),
    );
    const content = lines.slice(end + 1).join("\n");
    const [, path] = /^< (.*)$/.exec(content) ?? [];
    const body = path === undefined
      ? content
      : Uint8Array.from(readFileSync(pathOf(`${FOLDER}/${path}`)));
    const answer = await ask(service, method, address, {
      // All fields are in the file.
      headers: { authorization: undefined, ...Object.fromEntries(headers) },
      ...body && { body },
    });
    const [, number, status] = /^(\d+)\. .*: (\d{3})$/.exec(title) ??
      assert.fail(title);
    const told = [Number(number), Number(status)];
    assert.deepEqual([index + 1, answer.status], told, title);
    EXPECTED[index + 1]?.(answer);
  }
  assert.equal(requests.length, 12);
});

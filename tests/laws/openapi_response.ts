/** Whether a response is one that the OpenAPI document describes. */

import assert from "node:assert/strict";
import { parseInt64, parseJson } from "../../core/json.ts";
import type { OperationDescription, Schema } from "./openapi_document.ts";
import type { Answer } from "../contract/ask.ts";
import {
  assertError,
  assertJsonHeaders,
  STATUS_OF,
} from "../contract/error_reply.ts";
import type { Judge } from "./openapi_schema.ts";

/** Fields that the document says in words or not at all, by the status that has them. */
const ALWAYS = [
  ...["content-type", "content-length"],
  ...["cache-control", "x-content-type-options"],
];
const UNDESCRIBED: Readonly<Record<number, readonly string[]>> = {
  401: ["www-authenticate"],
  415: ["accept", "accept-encoding"],
  429: ["ratelimit", "ratelimit-policy"],
};
const DEPRECATION = ["deprecation", "sunset", "link"];

/**
 * Asserts that a response to this operation is declared: its status, an error among those of the operation,
 * every header field that it has, its media type and its body. To `HEAD` the body is empty.
 */
export function assertDeclared(
  answer: Answer,
  { operation, judge, isHead }: {
    readonly operation: OperationDescription;
    readonly judge: Judge;
    readonly isHead: boolean;
  },
): void {
  const { status, headers, text } = answer;
  const { responses, errors, deprecated = false } = operation;
  const code = errors.find((code) => STATUS_OF[code] === status) ?? "";
  assert.ok(status < 400 || code !== "", `${status} is none of its errors`);
  const listed = responses[status];
  const declared = listed ?? (code === "" ? undefined : responses.default);
  assert.ok(declared !== undefined, `${status} is not declared`);
  const { description, headers: fields = {}, content } = declared;
  if (listed === undefined) {
    assert.match(description, RegExp(`\\b${status} \`${code}\``));
  }

  const isDeprecated = deprecated && status !== 400; // the host is looked at before the path
  const known = [
    ...Object.keys(fields).map((name) => name.toLowerCase()),
    ...ALWAYS,
    ...UNDESCRIBED[status] ?? [],
    ...isDeprecated ? DEPRECATION : [],
  ];
  for (const name of headers.keys()) {
    assert.ok(known.includes(name), `${name}: undeclared`);
  }
  for (const [name, { schema }] of Object.entries(fields)) {
    const value = headers.get(name);
    if (value === null) continue;
    assert.deepEqual(
      judge(schema, parseText(schema, value)),
      [],
      `${name}: ${value}`,
    );
  }
  for (const name of isDeprecated ? DEPRECATION : []) {
    assert.ok(headers.has(name), name);
  }

  const mediaType = headers.get("content-type");
  if (content === undefined) {
    assert.deepEqual([mediaType, text], [null, ""], "there is content");
    return;
  }
  const body = content[mediaType ?? ""];
  assert.ok(body !== undefined, `the media type ${mediaType} is undeclared`);
  if (!("ETag" in fields)) assertJsonHeaders(headers);
  if (isHead) return assert.equal(text, "");
  assert.deepEqual(judge(body.schema, parseJson(text)), [], text);
  if (code !== "") assertError(answer, code);
}

/** The value that a header field or a parameter denotes: an integer in canonical form, or the text. */
export function parseText(schema: Schema, text: string): unknown {
  return schema.type === "integer" ? parseInt64(text) ?? text : text;
}

/** Whether a response is one that the OpenAPI document describes. @module */

import assert from "node:assert/strict";
import { parseInt64, parseJson } from "../../core/pets/int64.ts";
import type {
  MediaType,
  OpenApiDocument,
  OperationDescription,
  Schema,
} from "./openapi_document.ts";
import type { Answer } from "../contract/ask.ts";
import type { Judge } from "./openapi_schema.ts";

/** Fields that OpenAPI describes elsewhere (`content`) or not at all (framing). */
const OUTSIDE = ["content-type", "content-length"];

/**
 * Asserts that a response to this operation is declared: its status, every header field that it has,
 * every header field that it must have, its media type and its body. To `HEAD` the body is empty.
 */
export function assertDeclared(
  answer: Answer,
  { document, operation, judge, isHead }: {
    readonly document: OpenApiDocument;
    readonly operation: OperationDescription;
    readonly judge: Judge;
    readonly isHead: boolean;
  },
): void {
  const declared = operation.responses[String(answer.status)];
  assert.ok(declared !== undefined, `${answer.status} is not declared`);

  const names = new Map(
    Object.entries(declared.headers).map(([name, { $ref }]) => [
      name.toLowerCase(),
      $ref.replace("#/components/headers/", ""),
    ]),
  );
  for (const name of answer.headers.keys()) {
    assert.ok(names.has(name) || OUTSIDE.includes(name), `${name}: undeclared`);
  }
  for (const [name, component] of names) {
    const header = document.components.headers[component];
    assert.ok(header !== undefined, `there is no ${component}`);
    const text = answer.headers.get(name);
    assert.ok(text !== null || !header.required, `${name} is missing`);
    if (text === null) continue;
    const problems = judge(header.schema, parseText(header.schema, text));
    assert.deepEqual(problems, [], `${name}: ${text}`);
  }

  const mediaType = answer.headers.get("content-type");
  if (declared.content === undefined) {
    assert.deepEqual([mediaType, answer.text], [null, ""], "there is content");
    return;
  }
  const content = declared.content[mediaType ?? ""];
  assert.ok(content !== undefined, `the media type ${mediaType} is undeclared`);
  if (isHead) return assert.equal(answer.text, "");
  const body = parseJson(answer.text);
  assert.deepEqual(judge(content.schema, body), [], answer.text);
  if (answer.status >= 400) assertShown(answer, content);
}

/** Asserts that an error repeats its status, and has a code that the examples of its status show. */
function assertShown({ status, text }: Answer, { examples }: MediaType): void {
  const body: Record<string, unknown> = JSON.parse(text);
  assert.equal(body["status"], status);
  const codes = Object.values(examples ?? {}).map(({ value }) =>
    (value as Record<string, unknown>)["code"]
  );
  assert.ok(codes.includes(body["code"]), `${body["code"]} is not shown`);
}

/** The value that a header field or a parameter denotes: an integer in canonical form, or the text. */
export function parseText(schema: Schema, text: string): unknown {
  return schema.type === "integer" ? parseInt64(text) ?? text : text;
}

/** Converts the OpenAPI document for tools that only support OpenAPI 3.0. */

import type { JsonObject } from "../../core/kit.ts";

type Value = JsonObject[string];

/**
 * Converts a document from OpenAPI 3.1 to 3.0.3, which has no `summary` of `info`. The errors of
 * `default` become `4XX` and `5XX`, because Progenitor treats `default` as a success too.
 */
export function toOpenApi30(document: JsonObject): JsonObject {
  const { summary: _summary, license, ...info } = document.info as JsonObject;
  const { name, identifier } = license as Record<"name" | "identifier", string>;
  const url = `https://spdx.org/licenses/${identifier}`;
  return {
    ...convert(document) as JsonObject,
    openapi: "3.0.3",
    info: { ...info, license: { name, url } },
  };
}

function convert(value: Value): Value {
  if (Array.isArray(value)) return value.map(convert) as Value;
  if (typeof value !== "object" || value === null) return value;
  const { $ref, examples, ...others } = value as JsonObject;
  const members: Record<string, Value> = {};
  for (const [name, member] of Object.entries(others)) {
    members[name] = convert(name === "responses" ? withRanges(member) : member);
  }
  // In 3.0 nothing may stand next to a reference, and a schema has one example.
  if ($ref !== undefined) {
    const isAlone = Object.keys(others).length === 0;
    return isAlone ? { $ref } : { allOf: [{ $ref }], ...members };
  }
  if (Array.isArray(examples)) members.example = examples[0];
  else if (examples !== undefined) members.examples = examples;
  return members;
}

function withRanges(responses: Value): JsonObject {
  const { default: others, ...listed } = responses as Required<JsonObject>;
  if (others === undefined) return listed;
  // The description of `default` names errors of both ranges.
  const range = { ...others as JsonObject, description: "Any other error." };
  return { ...listed, "4XX": range, "5XX": range };
}

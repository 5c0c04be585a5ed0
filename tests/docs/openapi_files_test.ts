/**
 * The OpenAPI documents in docs/ are those of the service, for readers without a server. If they
 * are stale, `UPDATE_DOCS=1 deno task test tests/docs/openapi_files_test.ts` writes them.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { parseDocument, visit } from "yaml";
import { toOpenApi30 } from "../../adapters/standalone/openapi_30.ts";
import { openApi } from "../../mod.ts";
import { pathOf, readText } from "../support/repository.ts";

function toJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Writes readable YAML: one member per line, and text of several lines as such. */
function toYaml(value: unknown): string {
  const document = parseDocument(JSON.stringify(value), { intAsBigInt: true });
  visit(document, {
    Collection: (_key, node) => void (node.flow = node.items.length === 0),
    Scalar(key, node) {
      const text = `${node.value}`;
      if (text.includes("\n")) node.type = "BLOCK_LITERAL";
      if (key === "key" && /^[a-z$]\w*$/i.test(text)) node.type = "PLAIN";
    },
  });
  return document.toString({ lineWidth: 0 });
}

const FILES = Object.entries({
  "openapi.json": toJson(openApi()),
  "openapi.yaml": toYaml(openApi()),
  "openapi-3.0.json": toJson(toOpenApi30(openApi())),
});

const HOW =
  "write it with UPDATE_DOCS=1 deno task test tests/docs/openapi_files_test.ts";

for (const [name, expected] of FILES) {
  test(`docs/${name} is the document of the service`, () => {
    const file = `docs/${name}`;
    if (process.env.UPDATE_DOCS) writeFileSync(pathOf(file), expected);
    const isCurrent = readText(file) === expected;
    assert.ok(isCurrent, `docs/${name} is stale: ${HOW}`);
  });
}

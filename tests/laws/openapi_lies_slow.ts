/**
 * A law that a false document passes is worth nothing: here the document is made false in many ways,
 * and the law has to find each of them.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { type Change, pointerTo, remove } from "./json_patch.ts";
import { documentOf, type OpenApiDocument } from "./openapi_document.ts";
import { holdAgainst } from "./openapi_law.ts";
import { lies } from "./openapi_lies.ts";

const SLOW = { timeout: 120_000 }; // on a busy machine; Bun gives a test 5 seconds otherwise
const RUNS_TO_FIND_A_LIE = 6_000;

for (const [lie, tell] of Object.entries(lies)) {
  test(
    `the laws of the OpenAPI document find the lie that ${lie}`,
    SLOW,
    async () => {
      await assertFound(tell, lie);
    },
  );
}

test(
  "the laws of the OpenAPI document find each path, operation, error, response and header that is left out",
  SLOW,
  async () => {
    for (const pointer of declarationsOf(documentOf())) {
      await assertFound(remove(pointer), pointer);
    }
  },
);

/** Where the document says what there is. */
function declarationsOf({ paths }: OpenApiDocument): readonly string[] {
  const found: string[] = [];
  for (const [path, item] of Object.entries(paths)) {
    found.push(pointerTo("paths", path));
    for (const [method, { errors, responses }] of Object.entries(item)) {
      const operation = pointerTo("paths", path, method);
      found.push(operation);
      errors.forEach((_, i) => found.push(`${operation}/errors/${i}`));
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        const response = operation + pointerTo("responses", status);
        found.push(response);
        for (const name of Object.keys(headers)) {
          found.push(response + pointerTo("headers", name));
        }
      }
    }
  }
  return found;
}

async function assertFound(tell: Change, lie: string): Promise<void> {
  const document = documentOf();
  tell(document);
  await assert.rejects(
    holdAgainst(document, { numRuns: RUNS_TO_FIND_A_LIE, endOnFailure: true }),
    (error: Error) => {
      const found = error.cause ?? error;
      // Found by the law, and not because the lie broke the generator.
      assert.ok(found instanceof assert.AssertionError, String(found));
      return true;
    },
    lie,
  );
}

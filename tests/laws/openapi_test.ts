/**
 * Law: the OpenAPI document is true. What it allows is accepted, what it forbids is refused, and every
 * answer is one that it declares.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { parseInt64 } from "../../core/json.ts";
import { ask } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { REX } from "../support/new_pet.ts";
import { fc, patience, runs } from "../support/property.ts";
import { anyRequest, type Generated } from "./openapi_request.ts";
import { assertDeclared } from "./openapi_schema.ts";

/** A storage that has a pet of every id, and adds one whatever idempotency key comes with it. */
function fullStorage(): ReturnType<typeof memoryStorage> {
  const storage = memoryStorage();
  return {
    ...storage,
    get: (id) => Promise.resolve({ id, ...REX }),
    create: (pet) => storage.create(pet),
  };
}

/** The status that must come; `2` for any of the class. */
function expectedStatus(
  { operation, address, expected }: Generated,
): 2 | 400 | 404 {
  // The schema of an id allows any int64, but no pet has one below 1.
  return operation.operationId === "getPet" &&
      (parseInt64(address.slice("/pets/".length)) ?? 0n) < 1n
    ? 404
    : expected;
}

test(
  "the OpenAPI document is true: every request, allowed or not, is answered as it says",
  { timeout: patience(1500) },
  async () => {
    const service = handleService({ storage: fullStorage() });
    await fc.assert(
      fc.asyncProperty(anyRequest(), async (request) => {
        const { method, address, question, operation } = request;
        const answer = await ask(service, method, address, question);
        const { status, text } = answer;
        const expected = expectedStatus(request);
        const actual = expected === 2 ? Math.floor(status / 100) : status;
        assert.equal(actual, expected, text);
        assertDeclared(answer, { operation, isHead: false });
      }),
      runs(1500),
    );
  },
);

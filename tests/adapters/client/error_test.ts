/** Callers tell errors apart by `instanceof`, then by `code`. The types are tested by compiling. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  type AnyPetStoreError,
  PetStoreError,
  type PetStoreErrorCode,
} from "../../../adapters/client/mod.ts";
import { ERROR_STATUS } from "../../../core/answer.ts";
import { failure, noConnection, refusal, scripted } from "./scripted.ts";

/** Shows what the types know about an error, without a cast or a check for `undefined`. */
function explain(error: unknown): string {
  if (!(error instanceof PetStoreError)) return "another error";
  switch (error.code) {
    case "not_found":
    case "invalid_response":
      error.code satisfies "not_found" | "invalid_response";
      return `${error.code} with ${error.status satisfies number}`;
    case "network_error":
      error.code satisfies "network_error";
      // @ts-expect-error: there may have been no response
      error.status satisfies number;
      return error.code;
    case "bad_request":
    case "unauthorized":
    case "method_not_allowed":
    case "request_timeout":
    case "payload_too_large":
    case "unsupported_media_type":
    case "idempotency_key_reused":
    case "too_many_requests":
    case "internal_error":
    case "service_unavailable":
    case "timeout":
    case "http_error":
      return "another code";
    default:
      // All known codes were handled: what is left is the class itself, and not `never`.
      return `unknown code ${error.code} with ${error.status}`;
  }
}

test("an error narrows by its code after instanceof; an unknown code is the default", async () => {
  const explained = {
    "not_found with 404": refusal("not_found", 404),
    "network_error": noConnection,
    "unknown code forbidden with 403": refusal("forbidden", 403),
    "another code": refusal("bad_request", 400),
  };
  for (const [expected, step] of Object.entries(explained)) {
    const { client } = scripted([step], { retries: 0 });
    assert.equal(explain(await failure(client.getPet(1n))), expected);
  }
  assert.equal(explain(new Error("x")), "another error");
});

test("every code of the service is among the codes that errors narrow by", () => {
  const codes = Object.keys(ERROR_STATUS) as (keyof typeof ERROR_STATUS)[];
  for (const code of codes satisfies readonly PetStoreErrorCode[]) {
    const error: unknown = new PetStoreError("No", { code });
    assert.ok(error instanceof PetStoreError, code);
    assert.equal((error satisfies AnyPetStoreError).code, code);
    assert.deepEqual([`${error}`, error.uncertain], [
      "PetStoreError: No",
      false,
    ], code);
  }
});

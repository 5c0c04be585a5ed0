import assert from "node:assert/strict";
import test from "node:test";
import { createRouter } from "../../core/router.ts";

const find = createRouter([
  { method: "GET", path: "/v1/pets" },
  { method: "GET", path: "/v1/pets/{petId}" },
]);

test("createRouter answers OPTIONS with 204, unknown methods with 405, and Allow", () => {
  // Most of them are methods that fetch cannot send.
  for (const method of ["OPTIONS", "get", "TRACE", "__proto__", "", "GET "]) {
    const answer = find(method, "/v1/pets/secret");
    assert.ok(answer !== undefined && "status" in answer, method);
    assert.equal(answer.status, method === "OPTIONS" ? 204 : 405, method);
    assert.equal(answer.headers.allow, "GET, HEAD, OPTIONS", method);
    assert.equal(answer.route, "/v1/pets/{petId}", method);
  }
});

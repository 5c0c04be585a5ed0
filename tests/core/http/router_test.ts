import assert from "node:assert/strict";
import test from "node:test";
import { createRouter, type Route } from "../../../core/http/router.ts";

const ROUTES: readonly Route[] = [
  { method: "GET", path: "/v1/pets" },
  { method: "POST", path: "/v1/pets" },
  { method: "GET", path: "/v1/pets/{petId}" },
];
const find = createRouter(ROUTES);

test("createRouter answers OPTIONS with 204, Allow and the route", () => {
  assert.deepEqual(find("OPTIONS", "/v1/pets"), {
    status: 204,
    headers: { allow: "GET, HEAD, POST, OPTIONS" },
    body: null,
    route: "/v1/pets",
  });
});

test("createRouter refuses an unknown method with 405 and Allow, and names the route", () => {
  // Methods that fetch cannot send.
  const methods = ["get", "Post", "TRACE", "__proto__", "", "GET "];
  for (const method of methods) {
    const answer = find(method, "/v1/pets/secret");
    assert.ok(answer !== undefined && "status" in answer);
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers.allow, "GET, HEAD, OPTIONS");
    assert.equal(answer.route, "/v1/pets/{petId}");
  }
});

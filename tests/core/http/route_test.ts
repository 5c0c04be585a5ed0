import assert from "node:assert/strict";
import test from "node:test";
import { createRouter, type Route } from "../../../core/http/route.ts";
import type { Reply } from "../../../core/http/reply.ts";
import { operations } from "../../../core/operations.ts";

const find = createRouter("/v1", operations);

/** The name of the operation that a route leads to, and its parameter. */
function led(route: Route): readonly [string, string, string] {
  assert.ok("operation" in route, "it leads to an operation");
  const { template, operation, parameter } = route;
  return [template, `${operation.description.operationId}`, parameter];
}

/** The reply that a route leads to. */
function replied(route: Route): Reply {
  assert.ok("reply" in route, "it leads to a reply");
  return route.reply;
}

test("createRouter finds the operations and their templates", () => {
  for (
    const [method, path, ...expected] of [
      ["GET", "/v1/pets", "/v1/pets", "listPets", ""],
      ["POST", "/v1/pets", "/v1/pets", "createPet", ""],
      ["GET", "/v1/pets/7", "/v1/pets/{petId}", "getPet", "7"],
      ["GET", "/v1/openapi.json", "/v1/openapi.json", "getOpenApi", ""],
    ] as const
  ) {
    assert.deepEqual(led(find(method, path)), expected);
  }
});

test("createRouter names no template of a path that it does not have", () => {
  for (const path of ["/v1", "/v1/pets/", "/v1/pets/1/", "/v1/petsx", "*"]) {
    const route = find("GET", path);
    assert.equal(replied(route).status, 404, path);
    assert.equal(route.template, undefined);
  }
});

test("createRouter refuses an unknown method with 405 and Allow, and names the template", () => {
  // What fetch cannot send, and some runtimes do not let through.
  const methods = ["get", "Post", "TRACE", "__proto__", "", "GET "];
  for (const method of methods) {
    const route = find(method, "/v1/pets/secret");
    const { status, headers } = replied(route);
    assert.equal(status, 405, method);
    assert.equal(headers.allow, "GET, HEAD, OPTIONS");
    assert.equal(route.template, "/v1/pets/{petId}");
  }
});

test("createRouter works under any base path, and under none", () => {
  for (const base of ["", "/a/b", "/v1/pets", "/$&"]) {
    const findBelow = createRouter(base, operations);
    const [template, id, parameter] = led(findBelow("GET", `${base}/pets/7`));
    assert.equal(template, `${base}/pets/{petId}`);
    assert.deepEqual([id, parameter], ["getPet", "7"]);
    assert.equal(replied(findBelow("GET", `/x${base}/pets`)).status, 404);
  }
});

import assert from "node:assert/strict";
import test from "node:test";
import { Refusal } from "../../../core/http/refusal.ts";
import { createRouter } from "../../../core/http/route.ts";

const router = createRouter("/v1");

test("createRouter finds the three operations", () => {
  assert.deepEqual(router.match("GET", "/v1/pets"), {
    kind: "operation",
    operation: "listPets",
    petId: "",
  });
  assert.deepEqual(router.match("POST", "/v1/pets"), {
    kind: "operation",
    operation: "createPet",
    petId: "",
  });
  assert.deepEqual(router.match("GET", "/v1/pets/7"), {
    kind: "operation",
    operation: "getPet",
    petId: "7",
  });
});

test("createRouter routes HEAD as GET", () => {
  for (const path of ["/v1/pets", "/v1/pets/7"]) {
    assert.deepEqual(router.match("HEAD", path), router.match("GET", path));
  }
});

test("createRouter answers OPTIONS with the methods of the path", () => {
  assert.deepEqual(router.match("OPTIONS", "/v1/pets"), {
    kind: "options",
    allow: "GET, HEAD, POST, OPTIONS",
  });
  assert.deepEqual(router.match("OPTIONS", "/v1/pets/x"), {
    kind: "options",
    allow: "GET, HEAD, OPTIONS",
  });
});

test("createRouter refuses an unknown path with 404, whatever the method", () => {
  const paths = ["/", "", "/v1", "/v1/pets/", "/v1/pets/1/", "/v1/petsx", "*"];
  for (const path of paths) {
    for (const method of ["GET", "BREW", "OPTIONS"]) {
      const refusal = router.match(method, path);
      assert.ok(refusal instanceof Refusal, path);
      assert.equal(refusal.status, 404);
    }
  }
});

test("createRouter refuses an unknown method with 405 and Allow", () => {
  const methods = ["DELETE", "get", "Post", "TRACE", "__proto__", "", "GET "];
  for (const method of methods) {
    const refusal = router.match(method, "/v1/pets");
    assert.ok(refusal instanceof Refusal, method);
    assert.equal(refusal.status, 405);
    assert.equal(refusal.headers["allow"], "GET, HEAD, POST, OPTIONS");
  }
});

test("createRouter works under any base path, and under none", () => {
  for (const base of ["", "/a/b", "/v1/pets", "/$&"]) {
    const based = createRouter(base);
    assert.deepEqual(based.match("GET", `${base}/pets/7`), {
      kind: "operation",
      operation: "getPet",
      petId: "7",
    });
    assert.ok(based.match("GET", `/x${base}/pets`) instanceof Refusal);
  }
});

test("a router names the template of a path, and no path that is unknown", () => {
  assert.equal(router.template("/v1/pets"), "/v1/pets");
  assert.equal(router.template("/v1/pets/secret"), "/v1/pets/{petId}");
  assert.equal(router.template("/v1/other"), undefined);
});

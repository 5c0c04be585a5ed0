import assert from "node:assert/strict";
import test from "node:test";
import type { Fault } from "../../../adapters/sandbox/fault.ts";
import {
  appliesTo,
  type Arrived,
  matches,
} from "../../../adapters/sandbox/match_fault.ts";

test("a path matches itself, and a template one segment for each parameter", () => {
  const pet = "/v1/pets/{petId}";
  assert.ok(matches("/v1/pets", "/v1/pets"));
  assert.ok(matches(pet, "/v1/pets/7"));
  assert.ok(matches("/v1/pets/{id}", "/v1/pets/7"));
  assert.ok(matches("/v1/pets/%37", "/v1/pets/7"));
  assert.ok(!matches("/v1/pets/7", "/v1/pets/8"));
  assert.ok(!matches(pet, "/v1/pets/"));
  assert.ok(!matches(pet, "/v1/pets"));
  assert.ok(!matches(pet, "/v1/pets/7/8"));
  assert.ok(!matches("/v1/pets", "/v1/pets/"));
  assert.ok(!matches("/v1/pets", "/v1/Pets"));
});

test("a fault without when is for an operation with a valid key", () => {
  const arrived = {
    path: "/v1/pets",
    query: "",
    headers: new Headers(),
    getPet: true,
  };
  const list: Arrived = { ...arrived, method: "GET", key: "test" };
  const applies = (changed: Partial<Arrived>, when?: Fault["when"]) =>
    appliesTo({ lose: true, ...when && { when } }, { ...list, ...changed });
  for (const when of [undefined, {}]) {
    assert.ok(applies({}, when), `${when}`);
    assert.ok(applies({ method: "POST" }, when), `${when}`);
    assert.ok(applies({ path: "/v1/pets/7" }, when), `${when}`);
    assert.ok(!applies({ key: undefined }, when), `${when}`); // 401
    assert.ok(!applies({ method: "PUT" }, when), `${when}`); // 405
    assert.ok(!applies({ path: "/v1/orders" }, when), `${when}`); // 404
    assert.ok(!applies({ path: "/v1/pets/7", getPet: false }, when), `${when}`);
    assert.ok(applies({ getPet: false }, when), `${when}`);
    assert.ok(!applies({ method: "HEAD" }, when), `${when}`);
    assert.ok(!applies({ method: "OPTIONS" }, when), `${when}`);
    assert.ok(!applies({ path: "/v1/openapi.json" }, when), `${when}`);
  }
  assert.ok(applies({ method: "HEAD" }, { method: "HEAD" }));
  assert.ok(applies({ key: undefined }, { path: "/v1/pets" }));
});

test("when has query parameters, header fields and the key", () => {
  const headers = new Headers({ "X-A": "b", "Idempotency-Key": "" });
  const query = "limit=%35&after=&tag=a&tag=b";
  const list = { method: "GET", path: "/v1/pets", query, headers };
  const request = { ...list, key: "k", getPet: true };
  const applies = (when: Fault["when"] & object) =>
    appliesTo({ lose: true, when }, request);
  assert.ok(applies({ query: { limit: "5", after: true, status: false } }));
  assert.ok(applies({ query: { tag: "b", after: "" }, key: "k" }));
  assert.ok(!applies({ query: { limit: "5", tag: "c" } }));
  assert.ok(!applies({ query: { after: false } }));
  assert.ok(!applies({ query: { constructor: true } }));
  assert.ok(applies({ headers: { "x-a": "b", "IDEMPOTENCY-KEY": true } }));
  assert.ok(!applies({ headers: { "idempotency-key": false } }));
  assert.ok(!applies({ headers: { "x-b": "b" } }));
  assert.ok(!applies({ key: "j" }));
  assert.ok(!applies({ method: "POST", key: "k" }));
});

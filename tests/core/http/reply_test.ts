import assert from "node:assert/strict";
import test from "node:test";
import { jsonReply, toResponse } from "../../../core/http/reply.ts";

test("jsonReply has the headers of every JSON response", () => {
  assert.deepEqual(jsonReply(200, "[]").headers, {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
});

test("toResponse answers GET with the body", async () => {
  const response = toResponse(jsonReply(200, '"Zoë"'), "GET");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(await response.text(), '"Zoë"');
});

test("toResponse answers HEAD with the length in bytes and no body", async () => {
  const response = toResponse(jsonReply(200, '"Zoë"'), "HEAD");
  assert.equal(response.headers.get("content-length"), "6");
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(response.body, null);
  assert.equal(await response.text(), "");
});

test("toResponse gives a reply without content no length", () => {
  const reply = { status: 204, headers: { allow: "GET" }, body: null };
  for (const method of ["OPTIONS", "HEAD"]) {
    const response = toResponse(reply, method);
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("content-length"), null);
    assert.equal(response.body, null);
  }
});

test("toResponse shares no headers between responses", () => {
  const reply = jsonReply(200, "[]");
  toResponse(reply, "GET").headers.set("x-mine", "1");
  assert.equal(toResponse(reply, "GET").headers.get("x-mine"), null);
  assert.equal("x-mine" in reply.headers, false);
});

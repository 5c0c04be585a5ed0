import assert from "node:assert/strict";
import test from "node:test";
import { ERROR_STATUS, quote, Refusal } from "../../../core/http/refusal.ts";

test("Refusal has a body of exactly code, message and status", () => {
  const error = new Refusal("not_found", 'Cannot find "x"');
  assert.equal(
    error.body,
    '{"code":"not_found","message":"Cannot find \\"x\\"","status":404}',
  );
  assert.equal(error.status, 404);
});

test("Refusal has the headers of every JSON response, and those it is given", () => {
  const { headers } = new Refusal("method_not_allowed", "No", {
    allow: "GET",
  });
  assert.deepEqual(headers, {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    allow: "GET",
  });
});

test("every code has the status that HTTP gives it", () => {
  assert.deepEqual(ERROR_STATUS, {
    bad_request: 400,
    unauthorized: 401,
    not_found: 404,
    method_not_allowed: 405,
    request_timeout: 408,
    payload_too_large: 413,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    too_many_requests: 429,
    internal_error: 500,
    service_unavailable: 503,
  });
});

test("quote shows a text as a JSON string", () => {
  assert.equal(quote(""), '""');
  assert.equal(quote('a"\\b'), '"a\\"\\\\b"');
  assert.equal(quote("Zoë 🐕"), '"Zoë 🐕"');
});

test("quote shows 40 code points in full, and cuts what is longer", () => {
  const dogs = "🐕".repeat(40);
  assert.equal(quote(dogs), `"${dogs}"`);
  assert.equal(quote(`${dogs}🐕`), `"${dogs}…"`);
  assert.equal(quote("x".repeat(40)), `"${"x".repeat(40)}"`);
  assert.equal(quote("x".repeat(41)), `"${"x".repeat(40)}…"`);
  assert.equal(quote("x".repeat(1_000_000)), `"${"x".repeat(40)}…"`);
});

test("quote escapes every control character, DEL and C1 too", () => {
  assert.equal(quote("\u0000\n\u001b"), '"\\u0000\\n\\u001b"');
  assert.equal(quote("\u007f\u0080\u009b"), '"\\u007f\\u0080\\u009b"');
  assert.equal(JSON.parse(quote("\u007f\u009b")), "\u007f\u009b");
});

test("quote escapes a lone surrogate, so that the message is well-formed", () => {
  assert.equal(quote("\ud83d"), '"\\ud83d"');
});

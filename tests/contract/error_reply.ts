/** Asserts the shape of JSON responses and of errors. */

import assert from "node:assert/strict";
import type { Answer } from "./ask.ts";

/** The codes and their statuses, as in docs/contract.md. */
export const STATUS_OF: Readonly<Record<string, number>> = {
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
};

/** Asserts the headers that every JSON response has. */
export function assertJsonHeaders(headers: Headers): void {
  const expected = {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(headers.get(name), value, name);
  }
}

/** Asserts that the body is JSON, as the interface says. */
export function assertJson({ headers }: Answer): void {
  const type = headers.get("content-type") ?? "";
  const words = `Content-Type is ${
    type || "missing"
  }, and should be application/json`;
  assert.match(type, /^application\/json *(?:;|$)/i, words);
}

/** What a page of ten thousand pets has is read; several times as much would take hundreds of MB. */
const MOST_VALUES = 100_000;
const MOST_LEVELS = 1000;

/** Reads JSON, unless it has too many values, or too many arrays and objects within one another. */
export function readJson(
  text: string,
  reviver?: Parameters<typeof JSON.parse>[1],
): unknown {
  let values = 0;
  let level = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') isInString = !isInString;
    else if (isInString) i += character === "\\" ? 1 : 0;
    else if (character === "]" || character === "}") level--;
    else if (character === ",") values++;
    else if (character === "[" || character === "{") {
      values++;
      level++;
    }
    if (values > MOST_VALUES || level > MOST_LEVELS) {
      assert.ok(false, "the body has too many values, or too deep ones");
    }
  }
  return JSON.parse(text, reviver);
}

/**
 * Asserts an error as the interface describes it: this status, and an Error body that repeats it.
 * Returns the message.
 */
export function assertRefused(answer: Answer, status: number): string {
  assert.equal(answer.status, status, answer.text);
  assertJson(answer);
  const error = readJson(answer.text) as {
    readonly [member: string]: unknown;
    readonly message: string;
  };
  for (const member of ["code", "message"]) {
    const isText = typeof error?.[member] === "string";
    assert.ok(isText, `the Error body has no ${member} that is a string`);
  }
  assert.equal(error.status, status, "status in the Error body");
  return error.message;
}

/** Asserts {@linkcode assertAnyError} with this code. Returns the message. */
export function assertError(answer: Answer, code: string): string {
  const message = assertAnyError(answer);
  assert.equal(JSON.parse(answer.text).code, code, answer.text);
  return message;
}

/**
 * Asserts a well-formed refusal: the headers of JSON, and exactly `code`, `message` and `status`,
 * which repeats the response's status and belongs to the code. Returns the message.
 */
export function assertAnyError(answer: Answer): string {
  const { status: is, text } = answer;
  // A page of pets in place of an error would fill screens.
  assert.ok(is >= 400, `${is} is not an error: ${text.slice(0, 200)}`);
  assertJsonHeaders(answer.headers);
  const body = readJson(answer.text) as Record<string, unknown>;
  assert.deepEqual(Object.keys(body).sort(), ["code", "message", "status"]);
  const { code, message, status } = body;
  assert.ok(typeof code === "string" && code in STATUS_OF, `code ${code}`);
  assert.equal(status, STATUS_OF[code]);
  assert.equal(answer.status, status);
  assert.ok(typeof message === "string" && message.length > 0);
  assert.ok(message.length < 1000, "the message is short");
  // deno-lint-ignore no-control-regex -- what must not be there
  assert.doesNotMatch(message, /[\u0000-\u001f\u007f-\u009f]/);
  return message;
}

import assert from "node:assert/strict";
import test from "node:test";
import type { Fault } from "../../../adapters/sandbox/fault.ts";
import { madeAnswer } from "../../../adapters/sandbox/fault_answer.ts";
import { type Answer, ERROR_STATUS } from "../../../core/answer.ts";
import { noAnswer } from "../../../core/kit.ts";

function made(fault: Fault, method = "GET", path = "/v1/pets"): Answer {
  return madeAnswer(fault, { method, path, getPet: true }) ?? assert.fail();
}

test("an error has its Error body, and Retry-After unless the work was done", () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    for (const work of [false, true]) {
      const row = `${code}, work: ${work}`;
      const { headers, body } = made({ answer: { status }, work });
      const json = JSON.parse(String(body));
      assert.deepEqual([json.code, json.status], [code, status], row);
      assert.equal(typeof json.message, "string", row);
      assert.equal(headers["content-type"], "application/json", row);
      const isAgain = !work && (status === 503 || status === 429);
      assert.equal(headers["retry-after"], isAgain ? "1" : undefined, row);
      assert.equal("www-authenticate" in headers, status === 401, row);
      assert.equal("allow" in headers, status === 405, row);
      assert.equal("accept" in headers, status === 415, row);
      assert.equal("sunset" in headers, false, row);
    }
  }
});

test("errors of getPet say that it is deprecated, except 405", () => {
  const sunset = (status: number, method: string, path: string) =>
    made({ answer: { status } }, method, path).headers["sunset"];
  assert.match(String(sunset(404, "GET", "/v1/pets/7")), /2030/);
  assert.match(String(sunset(503, "HEAD", "/v1/pets/7")), /2030/);
  assert.equal(sunset(405, "GET", "/v1/pets/7"), undefined);
  assert.equal(sunset(503, "PUT", "/v1/pets/7"), undefined);
});

test("madeAnswer returns noAnswer for a lost answer, with work and without", () => {
  for (const work of [false, true]) {
    assert.equal(made({ lose: true, work }), noAnswer, `${work}`);
  }
});

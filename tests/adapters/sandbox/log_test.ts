import assert from "node:assert/strict";
import test from "node:test";
import type { Fault } from "../../../adapters/sandbox/fault.ts";
import type { RecordedRequest } from "../../../adapters/sandbox/journal.ts";
import { describeRequest } from "../../../adapters/sandbox/log.ts";

const CREATE: RecordedRequest = {
  time: 0,
  method: "POST",
  target: "/v1/pets",
  headers: {},
  body: null,
  status: 201,
  responseHeaders: {},
  answered: 1,
};
const lost: Fault = { lose: true, work: true };

/** By line, what the request has. */
const LINES: Readonly<Record<string, Partial<RecordedRequest>>> = {
  "POST /v1/pets  201, pet 51 added": { added: 51n },
  "POST /v1/pets  lost, pet 51 added": {
    status: null,
    fault: lost,
    added: 51n,
  },
  "POST /v1/pets  reset": { status: null, fault: { lose: true, reset: true } },
  "POST /v1/pets  the client left": { status: null },
  "POST /v1/pets  201, replayed": {
    responseHeaders: { "idempotent-replayed": "true" },
  },
  "GET /v1/pets  503, instead of the true answer": {
    method: "GET",
    status: 503,
    fault: { answer: { status: 503 } },
  },
  "POST /v1/pets  201, cut after 40 bytes": { fault: { cut: 40 } },
  "POST /v1/pets  201, reset after 4 bytes": { fault: { cut: 4, reset: true } },
  "POST /v1/pets  201, stalled after 0 bytes": { fault: { stall: 0 } },
  "POST /v1/pets  201, 100 bytes per second, delayed 5 ms": {
    fault: { drip: 100, delay: 5 },
  },
  "POST /v1/pets  201": { fault: { delay: 0, answer: { headers: {} } } },
};
for (const [line, request] of Object.entries(LINES)) {
  test(`a line is ${line}`, () => {
    assert.equal(describeRequest({ ...CREATE, ...request }), line);
  });
}

test("a line has no control characters, and a long target is cut", () => {
  const target = `/\x1b[2J\x9b${"x".repeat(200)}`;
  const line = describeRequest({ ...CREATE, target });
  assert.equal(line, `POST /?[2J?${"x".repeat(74)}…  201`);
});

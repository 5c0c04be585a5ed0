import assert from "node:assert/strict";
import test from "node:test";
import { traced } from "../../../core/http/trace.ts";

test("without OpenTelemetry a service stays as it is, so that tracing costs nothing", () => {
  const service = () => Promise.reject(new Error("not called"));
  assert.equal(traced(service), service);
});

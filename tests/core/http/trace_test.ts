import assert from "node:assert/strict";
import test from "node:test";
import { traced } from "../../../core/http/trace.ts";
import type { ServiceRequest } from "../../../core/http/message.ts";

test("without OpenTelemetry a service stays as it is, so that tracing costs nothing", () => {
  const service = () => Promise.reject(new Error("not called"));
  assert.equal(traced(service), service);
});

test("a span gets the name of a route, unless Node's instrumentation does that, and only if there is one", async () => {
  const names: string[] = [];
  const span = {
    setAttribute: () => span,
    updateName: (name: string) => names.push(name),
  };
  let rpc: { route?: string } | undefined;
  const getValue = (key: symbol) =>
    key.description?.endsWith(" SPAN") ? span : rpc;
  const context = { active: () => ({ getValue }) };
  const api = Symbol.for("opentelemetry.js.api.1");
  const before = Reflect.get(globalThis, api);
  try {
    Reflect.set(globalThis, api, { context });
    const ask = async (route?: string) => {
      const answer = { status: 200, headers: {}, body: null };
      const service = traced(async () => route ? { ...answer, route } : answer);
      await service({ method: "GET" } as ServiceRequest, undefined);
    };
    await ask("/v1/pets");
    await ask();
    rpc = {};
    await ask();
    assert.deepEqual(rpc, {});
    await ask("/v1/pets/{petId}");
    assert.deepEqual(rpc, { route: "/v1/pets/{petId}" });
  } finally {
    Reflect.set(globalThis, api, before);
  }
  assert.deepEqual(names, ["GET /v1/pets"]);
});

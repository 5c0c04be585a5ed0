import assert from "node:assert/strict";
import test from "node:test";
import { traceLayer } from "../../../adapters/layers/tracing.ts";
import type { ServiceRequest } from "../../../core/answer.ts";

test("without OpenTelemetry a service stays as it is, so that tracing costs nothing", () => {
  const service = () => Promise.reject(new Error("not called"));
  assert.equal(traceLayer(service), service);
});

test("a span gets the key's id, and unless Node's instrumentation does it, the route", async (t) => {
  const told: string[][] = [];
  const span = {
    setAttribute(...attribute: string[]) {
      told.push(attribute);
      return span;
    },
    updateName: (name: string) => told.push([name]),
  };
  const set: { rpc?: { route?: string } } = {};
  const getValue = (key: symbol) =>
    new Map<symbol, unknown>([
      [Symbol.for("OpenTelemetry Context Key SPAN"), span],
      [Symbol.for("OpenTelemetry SDK Context Key RPC_METADATA"), set.rpc],
    ]).get(key);
  const context = { active: () => ({ getValue }) };
  const api = Symbol.for("opentelemetry.js.api.1");
  const before = Reflect.get(globalThis, api);
  t.after(() => Reflect.set(globalThis, api, before));
  Reflect.set(globalThis, api, { context });
  const serve = async (route?: string, method = "GET", keyId?: number) => {
    const answer = { status: 200, headers: {}, body: null, keyId };
    const service = traceLayer(async () =>
      route ? { ...answer, route } : answer
    );
    await service(
      { method } as ServiceRequest,
      undefined,
      () => Promise.reject(new Error("not called")),
    );
  };
  await serve("/v1/pets");
  await serve("/v1/pets", "X", 3);
  await serve();
  set.rpc = {};
  await serve();
  assert.deepEqual(set.rpc, {});
  await serve("/v1/pets/{petId}", "GET", 0);
  assert.deepEqual(set.rpc, { route: "/v1/pets/{petId}" });
  assert.deepEqual(told, [
    ["http.route", "/v1/pets"],
    ["GET /v1/pets"],
    ["enduser.id", "3"],
    ["http.route", "/v1/pets"],
    ["HTTP /v1/pets"],
    ["enduser.id", "0"],
  ]);
});

/** Layers of whoever embeds the service: where they stand, and what happens if one fails. */
import assert from "node:assert/strict";
import test from "node:test";
import { logLayer, traceLayer } from "../../../adapters/layers/mod.ts";
import { type Layer, withFields } from "../../../core/answer.ts";
import { createHandler, memoryStorage } from "../../../mod.ts";
import { FACES, KEYS, send, SILENT } from "./faces.ts";

test("own layers stand outside, the first outermost, and see the finished answer", async () => {
  const FIELD = "x-request-id";
  const seen: string[] = [];
  const own = (name: string): Layer => (service) => async (...request) => {
    seen.push(`${name} begins`);
    const answer = await service(...request);
    seen.push(`${name} sees ${FIELD in answer.headers}`);
    return answer;
  };
  const log = logLayer({ write: () => void seen.push("log") });
  const handle = createHandler({
    storage: memoryStorage(),
    keys: KEYS,
    layers: [log, own("a"), own("b")],
  });
  await send("handle", handle);
  assert.deepEqual(
    seen,
    ["a begins", "b begins", "log", "b sees true", "a sees true"],
  );
});

test("a layer that fails is a 500, and onError is told why", async () => {
  const failing: Readonly<Record<string, Layer>> = {
    "Error: throws": () => () => {
      throw new Error("throws");
    },
    "Error: rejects": () => () => Promise.reject(new Error("rejects")),
    "TypeError: Wrong result of a layer: it must be the answer of the service, or another one":
      (service) => async (...request) => {
        await service(...request);
        return undefined as never;
      },
    "TypeError: Wrong result of a layer: it must be the answer of the service, or another one ":
      () => async () => ({ status: 99, headers: {}, body: null }),
  };
  for (const [reason, layer] of Object.entries(failing)) {
    const told: string[] = [];
    const handle = createHandler({
      storage: memoryStorage(),
      keys: KEYS,
      layers: [layer],
      onError: (cause) => void told.push(`${cause}`),
    });
    for (const face of Object.keys(FACES)) {
      const response = await send(face, handle);
      assert.equal(response.status, 500, face);
      assert.equal((await response.json()).code, "internal_error", face);
      assert.deepEqual(told.splice(0), [reason.trim()], face);
    }
  }
});

test("a layer that sets a field which cannot be sent is a 500", async () => {
  const splitting: Layer = (service) => async (...request) =>
    withFields(await service(...request), { "x-a": "b\r\nset-cookie: c" });
  const handle = createHandler({
    storage: memoryStorage(),
    keys: KEYS,
    layers: [splitting],
    ...SILENT,
  });
  for (const face of Object.keys(FACES)) {
    const { status, headers } = await send(face, handle);
    assert.deepEqual([status, headers.has("set-cookie")], [500, false], face);
  }
});

test("tracing is on once, whether it is passed or not", async (t) => {
  const names: string[] = [];
  const api = Symbol.for("opentelemetry.js.api.1");
  const span = {
    setAttribute: () => span,
    updateName: (name: string) => names.push(name),
  };
  const isSpan = (key: symbol) => /CURRENT|SPAN/.test(`${key.description}`);
  const active = () => ({
    getValue: (key: symbol) => isSpan(key) ? span : undefined,
  });
  t.after(() => Reflect.deleteProperty(globalThis, api));
  Reflect.set(globalThis, api, { context: { active } });
  // The layer of this module was made before; it looks for contexts when it wraps a service.
  for (const layers of [[], [traceLayer]]) {
    const handle = createHandler({
      storage: memoryStorage(),
      keys: KEYS,
      layers,
    });
    await send("handle", handle);
    assert.deepEqual(names.splice(0), ["POST /v1/pets"], `${layers.length}`);
  }
});

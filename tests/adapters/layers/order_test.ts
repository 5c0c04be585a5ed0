/** Layers wrap both faces of a handler, and whatever their order is, an answer is the same. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  createDrain,
  createMetrics,
  createRateLimit,
  logLayer,
  traceLayer,
} from "../../../adapters/layers/mod.ts";
import {
  ERROR_STATUS,
  type ErrorCode,
  type Layer,
  withFields,
} from "../../../core/answer.ts";
import { createHandler, memoryStorage, StorageError } from "../../../mod.ts";
import { APP, FACES, KEYS, type Refused, send, SILENT } from "./faces.ts";

/** Makes the layers, and what is read of them. */
function create() {
  const lines: Record<string, unknown>[] = [];
  const drain = createDrain();
  const metrics = createMetrics();
  const limit = createRateLimit({ requests: 1, seconds: 3600 });
  const note = (line: string) => void lines.push(JSON.parse(line));
  const own: Layer = (service) => async (...request) =>
    withFields(await service(...request), { "x-own": "1" });
  return {
    lines,
    drain,
    limit,
    layers: {
      own,
      metrics: metrics.layer,
      log: logLayer({ write: note, writeFault() {} }),
      drain: drain.layer,
      limits: limit.byAddress,
      tracing: traceLayer,
    },
    /** The counts of requests, by status. */
    async counts(): Promise<readonly string[]> {
      const { body } = await metrics.endpoint.run({} as never);
      return `${body}`.match(/(?<=_count\{.*status_code=")\d+"\} \d+/g) ?? [];
    },
  };
}

const fail = (error: Error) => ({
  storage: { ...memoryStorage(), create: () => Promise.reject(error) },
});

/** By code, a request that is refused with it by the service itself. */
const REFUSED: Readonly<Record<ErrorCode, Refused>> = {
  bad_request: { body: "{}" },
  unauthorized: { headers: { authorization: "Bearer wrong" } },
  not_found: { line: "GET /v1/pets/9" },
  method_not_allowed: { line: "DELETE /v1/pets" },
  request_timeout: {
    body: new ReadableStream(),
    options: { bodyTimeout: 1 },
  },
  payload_too_large: { options: { maxBodyBytes: 1 } },
  unsupported_media_type: { headers: { "content-type": "text/plain" } },
  idempotency_key_reused: {
    headers: { "idempotency-key": "k" },
    times: 2,
  },
  too_many_requests: {
    options: { rateLimit: () => ({ allowed: false }) },
  },
  internal_error: { options: fail(new Error("a bug")) },
  service_unavailable: {
    options: fail(new StorageError("unavailable", "gone")),
  },
};

type Name = keyof ReturnType<typeof create>["layers"];
const NAMES = Object.keys(create().layers) as readonly Name[];
const PAIRS = NAMES.flatMap((one) =>
  NAMES.filter((other) => other !== one).map((other) => [one, other] as const)
);

/** Asserts that the answer has the fields of each layer in use, and those of CORS. */
async function assertRefused(
  response: Response,
  code: ErrorCode,
  layers: readonly Name[],
): Promise<void> {
  const { status, headers } = response;
  assert.equal(status, ERROR_STATUS[code]);
  assert.equal((await response.json()).code, code);
  assert.equal(headers.get("access-control-allow-origin"), APP);
  const exposed = headers.get("access-control-expose-headers");
  assert.match(`${exposed}`, /Retry-After, X-Request-Id/);
  assert.equal(headers.get("vary"), "Origin");
  assert.equal(headers.has("x-request-id"), layers.includes("log"));
  assert.equal(headers.get("x-own"), layers.includes("own") ? "1" : null);
}

for (const face of Object.keys(FACES)) {
  for (const pair of PAIRS) {
    test(`${face}: other origins read each refusal through ${pair.join(" and ")}`, async () => {
      for (const [name, refused] of Object.entries(REFUSED)) {
        const code = name as ErrorCode;
        const { lines, layers, counts } = create();
        const handle = createHandler({
          storage: memoryStorage(),
          keys: KEYS,
          ...SILENT,
          cors: { origins: [APP] },
          layers: pair.map((layer) => layers[layer]),
          ...refused.options,
        });
        const { times = 1 } = refused;
        if (times === 2) await send(face, handle, refused, 1);
        await assertRefused(await send(face, handle, refused), code, pair);
        const status = ERROR_STATUS[code];
        if (pair.includes("log")) {
          assert.equal(lines.at(-1)?.status, status, name);
        }
        if (!pair.includes("metrics")) continue;
        assert.equal((await counts()).at(-1), `${status}"} 1`, code);
      }
    });

    test(`${face}: they read refusals of layers through ${pair.join(" and ")}`, async () => {
      const made = create();
      const handle = createHandler({
        storage: memoryStorage(),
        keys: KEYS,
        ...SILENT,
        cors: { origins: [APP] },
        layers: pair.map((layer) => made.layers[layer]),
      });
      if (pair.includes("limits")) {
        const wrong = { headers: { authorization: "Bearer wrong" } };
        const first = await send(face, handle, wrong);
        await assertRefused(first, "unauthorized", pair);
        const second = await send(face, handle, wrong);
        await assertRefused(second, "too_many_requests", pair);
      }
      if (pair.includes("drain")) {
        await made.drain.drain();
        const last = await send(face, handle);
        await assertRefused(last, "service_unavailable", pair);
      }
    });
  }
}

/** All orders of a list. */
function ordersOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length < 2) return [all];
  return all.flatMap((one) =>
    ordersOf(all.filter((other) => other !== one))
      .map((others) => [one, ...others])
  );
}

test("layers are sorted: in any order a 429 and a 503 are counted and logged", async () => {
  for (const order of ordersOf(NAMES)) {
    const { lines, layers, drain, counts } = create();
    const handle = createHandler({
      storage: memoryStorage(),
      keys: KEYS,
      cors: { origins: [APP] },
      layers: order.map((name) => layers[name]),
    });
    const wrong = { headers: { authorization: "Bearer wrong" } };
    for (let i = 0; i < 2; i++) await send("handle", handle, wrong);
    await drain.drain();
    const last = await send("handle", handle, wrong);
    await assertRefused(last, "service_unavailable", order);
    const statuses = lines.map(({ status }) => status);
    assert.deepEqual(statuses, [401, 429, 503], `${order}`);
    const expected = ['401"} 1', '429"} 1', '503"} 1'];
    assert.deepEqual(await counts(), expected, `${order}`);
  }
});

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
import { type Handler, toResponse, webBody } from "../../../core/handler.ts";
import {
  createHandler,
  type HandlerOptions,
  memoryStorage,
  StorageError,
} from "../../../mod.ts";
import { REX_JSON } from "../../support/pets.ts";

const APP = "https://app.example.com";

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

const SILENT = { onError() {} };
const KEYS: HandlerOptions["keys"] = {
  verify: (key) => key === "secret" && { id: 1 },
};

/** How a handler is called: as a fetch function, or as servers call it. */
const FACES: Readonly<
  Record<string, (handle: Handler, request: Request) => Promise<Response>>
> = {
  handle: (handle, request) => handle(request),
  answer: async ({ answer }, request) =>
    toResponse(await answer(request, undefined, webBody(request))),
};

interface Refused {
  /** The method and path; by default a create. */
  readonly line?: string;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  /** How many requests are sent: the last one is refused. Default: one. */
  readonly times?: 2;
  readonly options?: Partial<HandlerOptions>;
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

/** Sends a request with `Origin`; each time another pet. */
function send(
  face: string,
  handle: Handler,
  { line = "POST /v1/pets", body, headers }: Refused = {},
  time = 0,
): Promise<Response> {
  const [method = "", path = ""] = line.split(" ");
  const sent = body ?? REX_JSON.replace("Rex", `Rex ${time}`);
  const init: RequestInit & { readonly duplex: "half" } = {
    method,
    duplex: "half",
    headers: {
      origin: APP,
      authorization: "Bearer secret",
      "content-type": "application/json",
      ...headers,
    },
    ...method === "POST" && {
      body: sent instanceof ReadableStream ? new ReadableStream() : sent,
    },
  };
  const ask = FACES[face] ?? assert.fail(face);
  return ask(handle, new Request(`http://localhost${path}`, init));
}

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

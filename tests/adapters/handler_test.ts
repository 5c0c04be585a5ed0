import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { docs } from "../../adapters/docs/mod.ts";
import { createDrain } from "../../adapters/layers/drain.ts";
import { logLayer } from "../../adapters/layers/log.ts";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { createHandler } from "../../adapters/handler.ts";
import type { HandlerOptions } from "../../adapters/handler_options.ts";
import { jsonAnswer } from "../../core/answer.ts";
import { cutShort } from "../../core/errors.ts";
import { apiKeys } from "../../core/keys.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { type Answer, ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { REX_JSON } from "../support/pets.ts";
import { nextTask } from "../support/time.ts";
import { handleService, storageThat } from "../support/handle_service.ts";

const SECRET = "SELECT * FROM pets; /etc/passwd; pet_key";

/** One request for each operation, which all reach the storage. */
const CALLS = [
  ["GET", "/pets", {}],
  ["POST", "/pets", { body: REX_JSON }],
  ["GET", "/pets/1", {}],
] as const;

test("a body that was read before is a fault, and onError is told what to do", async () => {
  const causes: unknown[] = [];
  const service = handleService({ onError: (cause) => causes.push(cause) });
  const fetch = (request: Request) =>
    request.text().then(() => service.fetch(request));
  await ask({ ...service, fetch }, "POST", "/pets", { body: REX_JSON });
  assert.match(String(causes), /mount the pet store before body parsers/);
});

/**
 * Faults of a storage: after an `unavailable`, nothing was changed, so the request can be sent
 * again. The second of each kind is of another copy of the package.
 */
const FAULTS = (["unavailable", "outcome_unknown"] as const).flatMap((kind) => [
  new StorageError(kind, SECRET, { retryAfter: 7 }),
  Object.assign(new Error(SECRET), { kind, retryAfter: 7 }),
]);

const CAUSES: readonly unknown[] = [
  undefined,
  SECRET,
  { message: SECRET, status: 200, kind: "unavailable" },
  Object.assign(new Error(SECRET), { kind: "unavailable", retryAfter: "7" }),
  Object.assign(new Error(SECRET), { kind: "toString", retryAfter: 7 }),
  new Error(SECRET, { cause: new Error(SECRET) }),
  new Proxy({}, {
    getPrototypeOf() {
      throw new Error(SECRET);
    },
  }),
  ...FAULTS,
];

/** The ways to fail with a cause. */
function failures(cause: unknown): readonly (() => Promise<never>)[] {
  return [
    () => {
      throw cause;
    },
    () => Promise.reject(cause),
  ];
}

test("handle answers 500 or 503 whatever is thrown, and tells only onError", async () => {
  const letIn = storageThat(() => assert.fail("let in"));
  const broken = CAUSES.flatMap((cause) =>
    failures(cause).flatMap((fail) => [
      { cause, keyId: undefined, storage: storageThat(fail) },
      {
        cause,
        keyId: 3,
        storage: storageThat(fail),
        keys: { verify: () => ({ id: 3 }) },
      },
      { cause, keyId: undefined, storage: letIn, keys: { verify: fail } },
    ])
  );
  for (const { cause, keyId, ...options } of broken) {
    const told: unknown[] = [];
    const service = handleService({
      ...options,
      onError: (cause, { url }, ...details) =>
        void told.push(cause, url, ...details),
    });
    for (const [method, path, content] of CALLS) {
      const answer = await ask(service, method, path, content);
      const fault = FAULTS.find((one) => one === cause);
      assertError(answer, fault ? "service_unavailable" : "internal_error");
      const retryAfter = answer.headers.get("retry-after");
      assert.equal(
        retryAfter,
        fault?.kind === "unavailable" ? "7" : null,
        `${method} ${path}`,
      );
      assertNoSecret(answer);
      const [toldCause, url, route, id] = told.splice(0);
      assert.ok(Object.is(toldCause, cause), `${method} ${path}`);
      assert.equal(url, service.base + path, `${method} ${path}`);
      assert.equal(route, `/v1${path.replace("/1", "/{petId}")}`);
      assert.equal(id, keyId, `${method} ${path}`);
    }
  }
});

test("handle answers 500 if a storage returns anything but a pet or a page", async () => {
  const rex = { id: 1n, name: "Rex", categoryId: 1n, status: "sold" };
  const noPets: unknown[] = [
    null,
    "pet",
    { ...rex, id: 1 },
    { ...rex, name: undefined },
    { ...rex, categoryId: "1" },
    { ...rex, status: undefined },
  ];
  const noPages: unknown[] = [
    undefined,
    {},
    { pets: 1 },
    ...noPets.map((pet) => ({ pets: [pet] })),
    ...[null, 2n ** 63n, "x>; rel=evil"].map((last) => ({ pets: [], last })),
  ];
  const wrong = [
    ...noPages.map((page) => [CALLS[0], page] as const),
    ...[...noPets, undefined].map((pet) => [CALLS[1], pet] as const),
    ...noPets.map((pet) => [CALLS[2], pet] as const),
  ];
  const all = new Set<string>();
  for (const [[method, path, content], value] of wrong) {
    const told: unknown[] = [];
    const service = handleService({
      storage: storageThat(() => Promise.resolve(value)),
      onError: (cause) => void told.push(cause),
    });
    const answer = await ask(service, method, path, content);
    assertError(answer, "internal_error");
    assert.ok(told.length === 1 && told[0] instanceof Error, inspect(value));
    all.add(`${told[0]}`);
  }
  const noPet =
    "TypeError: Cannot write pet: the storage returned something that is not a Pet";
  assert.ok(all.has(noPet), [...all].join("\n"));
});

test("a page whose last pet has an id below 1, added by hand, is linked to the next", async () => {
  const rex = { id: -5n, name: "Rex", categoryId: 1n, status: "sold" };
  const page = { pets: [rex], last: rex.id };
  const storage = storageThat(() => Promise.resolve(page));
  const path = "/pets?limit=1&after=-10";
  const { status, headers } = await ask(
    handleService({ storage }),
    "GET",
    path,
  );
  assert.equal(status, 200);
  assert.equal(headers.get("link"), '<?limit=1&after=-5>; rel="next"');
});

test("handle answers even if onError throws, rejects or hangs", async () => {
  const storage = storageThat(() => Promise.reject(new Error(SECRET)));
  const hangs = () => new Promise<never>(() => {});
  for (const onError of [...CAUSES.flatMap(failures), hangs]) {
    const service = handleService({ storage, onError });
    const answer = await ask(service, "GET", "/pets");
    assertError(answer, "internal_error");
    assertNoSecret(answer);
  }
  await nextTask(); // a rejection that nobody handles fails this test
});

test("handle throws at once if it was mounted as a listener of Node", () => {
  const request = { method: "GET", url: "/v1/pets", headers: {} };
  assert.throws(() => handleService().fetch(request as unknown as Request), {
    name: "TypeError",
    message: /^Cannot handle this request: .*; on Node, mount toNodeListener/,
  });
});

test("handle ignores further arguments, which Deno, Next.js and Workers pass", async () => {
  const { fetch, base } = handleService();
  const headers = { authorization: "Bearer secret" };
  const request = new Request(`${base}/pets`, { headers });
  const others = [{ params: {} }, () => assert.fail()] as never[];
  const answer = await fetch(request, ...others);
  assert.equal(await answer.text(), "[]");
});

test("a handler's answer is the same service, as plain data", async () => {
  const { answer } = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
  });
  const request = {
    method: "POST",
    url: "http://localhost/v1/pets",
    headers: new Headers({
      authorization: "Bearer secret",
      "content-length": "29",
    }),
  };
  const readBody = async () => new TextEncoder().encode(REX_JSON);
  const { status, route, body } = await answer(request, undefined, readBody);
  const pet = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
  assert.deepEqual([status, route, body], [201, "/v1/pets", pet]);
  const refused = await answer(request, undefined, async () => cutShort);
  assert.deepEqual([refused.status, refused.code], [400, "bad_request"]);
  // All answers share them.
  const list = { ...request, method: "GET" };
  const { headers } = await answer(list, undefined, readBody);
  assert.ok(Object.isFrozen(headers));
});

test("createHandler throws for an option of a wrong kind, not for an undefined one", () => {
  const storage = memoryStorage();
  const wrong: Readonly<Record<string, readonly object[]>> = {
    "storage: it is a promise, so await it": [
      { storage: Promise.resolve(storage) },
    ],
    "storage: it is missing": [{ storage: undefined }, { storage: null }],
    "storage: it is a function, so call it, as in memoryStorage()": [
      { storage: memoryStorage },
    ],
    "storage.create: it must be a function, not undefined": [{ storage: {} }],
    "storage.get: it must be a function, not number": [
      { storage: { ...storage, get: 1 } },
    ],
    "storage.list: it must be a function, not object": [
      { storage: { ...storage, list: null } },
    ],
    'keys: it must have a method verify; apiKeys(["…"]) makes such an object of API keys':
      [undefined, "secret", ["secret"], { verify: true }]
        .map((keys) => ({ keys })),
    "rateLimit: it must be a function, not string": [{ rateLimit: "100/10s" }],
    "onError: it must be a function, not string": [{ onError: "log" }],
    'baseUrl: it must be a path such as "/v1", or an http or https URL without user, query and fragment':
      [1, "v1", null].map((baseUrl) => ({ baseUrl })),
  };
  for (const [reason, all] of Object.entries(wrong)) {
    const expected = { name: "TypeError", message: `Wrong option ${reason}` };
    for (const options of all) {
      assert.throws(() => handleService(options), expected, inspect(options));
    }
  }
  handleService({ basePath: undefined } as Partial<HandlerOptions>);
});

function assertNoSecret({ text, headers }: Answer): void {
  for (const shown of [text, ...headers.values()]) {
    assert.doesNotMatch(shown, /SELECT|passwd|pet_key/);
  }
}

test("createHandler refuses a page that would load another document", () => {
  const options = { storage: memoryStorage(), keys: apiKeys(["secret"]) };
  const run = async () => jsonAnswer(200, "[]");
  const other = { method: "GET", path: "/page", run } as const;
  const page = { ...other, openApiUrl: "/v1/openapi.json" };
  createHandler({ ...options, endpoints: [page] });
  const v1 = "https://pets.example/v1";
  createHandler({ ...options, endpoints: [page], baseUrl: v1 });
  createHandler({ ...options, endpoints: [other], baseUrl: "/shop/v1" });
  const baseUrl = "https://pets.example/shop/v1";
  const wrong = { ...options, endpoints: [other, page], baseUrl };
  assert.throws(() => createHandler(wrong), {
    name: "TypeError",
    message:
      'Wrong option endpoints: the page at /page loads /v1/openapi.json, but this service has /shop/v1/openapi.json; pass await docs({ openApiUrl: "/shop/v1/openapi.json" })',
  });
});

test("createHandler says what is wrong with endpoints, layers, or a former option", () => {
  const drain = createDrain();
  const noEndpoint = /^Wrong option endpoints: each must have a method, a path/;
  const noLayer = /^Wrong option layers: each must be a function, such as /;
  const cases = [
    [{ endpoints: docs() }, /endpoints: it must be a list, such as await docs/],
    [{ endpoints: drain }, /endpoints: it must be a list/],
    [{ endpoints: [{}] }, noEndpoint],
    [{ endpoints: [undefined] }, noEndpoint],
    [{ endpoints: [[]] }, noEndpoint],
    [{ endpoints: [{ method: "GET", path: "a", run() {} }] }, noEndpoint],
    [{ layers: drain.layer }, /layers: it must be a list of functions/],
    [{ layers: [drain] }, noLayer],
    [{ layers: [undefined] }, noLayer],
    [{ layers: [logLayer] }, /^logLayer accepts an object with options: write/],
    [{ layers: [() => undefined] }, /layers: each must return a service/],
    [
      { docs: [] },
      /^Unknown option docs: pass the page as endpoints: await docs\(/,
    ],
  ] as const;
  for (const [options, message] of cases) {
    const wrong = options as unknown as Partial<HandlerOptions>;
    assert.throws(
      () => handleService(wrong),
      { name: "TypeError", message },
      `${message}`,
    );
  }
});

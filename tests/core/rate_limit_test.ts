import assert from "node:assert/strict";
import test from "node:test";
import {
  apiKeys,
  createHandler,
  type HandlerOptions,
  memoryStorage,
  type RateLimitResult,
} from "../../mod.ts";

const HEADERS = {
  "retry-after": "5",
  "ratelimit-policy": '"key";q=100;w=10',
  "ratelimit": '"key";r=0;t=5',
};
const LIMITED: RateLimitResult = { allowed: false, headers: HEADERS };

function ask(
  rateLimit: NonNullable<HandlerOptions["rateLimit"]>,
  path: string,
  init: RequestInit = {},
  told: unknown[] = [],
): Promise<Response> {
  const handle = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    rateLimit,
    onError: (cause) => void told.push(cause),
  });
  const headers = { authorization: "Bearer secret", ...init.headers };
  return handle(new Request(`http://localhost${path}`, { ...init, headers }));
}

test("rateLimit is called with each valid key, and its fields stand on the 429", async () => {
  const callers: string[] = [];
  const response = await ask((key) => {
    callers.push(key);
    return Promise.resolve(LIMITED);
  }, "/v1/pets");
  assert.deepEqual(callers, ["secret"]);
  assert.equal(response.status, 429);
  assert.deepEqual(Object.fromEntries(response.headers), {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...HEADERS,
  });
  const { code, status } = await response.json();
  assert.deepEqual([code, status], ["too_many_requests", 429]);
});

test("the header fields of a request within the limit stand on its answer, whatever that is", async () => {
  const headers = { ratelimit: '"key";r=7;t=5' };
  const within = () => Promise.resolve({ allowed: true, headers } as const);
  for (const path of ["/v1/pets", "/v1/pets?limit=0", "/v1/pets/1"]) {
    const response = await ask(within, path);
    assert.notEqual(response.status, 429);
    assert.equal(response.headers.get("ratelimit"), headers.ratelimit, path);
  }
  const options = await ask(within, "/v1/pets", { method: "OPTIONS" });
  assert.equal(options.headers.get("ratelimit"), null);
});

test("the limit comes after host, path, method and key, and before the body and the input", async () => {
  const limited = () => Promise.resolve(LIMITED);
  const never = () => assert.fail("called");
  const before: readonly [number, string, RequestInit?][] = [
    [400, "/v1/pets", { headers: { host: "a/b" } }],
    [404, "/v1/nothing"],
    [405, "/v1/pets", { method: "PUT" }],
    [204, "/v1/pets", { method: "OPTIONS" }],
    [401, "/v1/pets", { headers: { authorization: "Bearer wrong" } }],
    [200, "/v1/openapi.json"],
  ];
  for (const [status, path, init] of before) {
    assert.equal((await ask(never, path, init)).status, status, path);
  }
  const after: readonly [string, RequestInit?][] = [
    ["/v1/pets?limit=0"],
    ["/v1/pets", { method: "HEAD" }],
    ["/v1/pets", { method: "POST" }],
    ["/v1/pets", { method: "POST", headers: { "content-type": "text/plain" } }],
    ["/v1/pets/1"],
  ];
  for (const [path, init] of after) {
    assert.equal((await ask(limited, path, init)).status, 429, path);
  }
});

test("a rateLimit that fails, returns something else, or fields that cannot be sent, is a 500 that onError is told of", async () => {
  const results: readonly unknown[] = [
    ...[{}, "", null, { headers: {} }],
    ...[["x-a", "\u0001"], ["x-a", "\u007f"], ["a b", "c"]]
      .concat([["transfer-encoding", "chunked"], ["content-length", "7"]])
      .map((field) => ({
        allowed: true,
        headers: Object.fromEntries([field]),
      })),
  ];
  const wrong = [
    () => Promise.reject(new TypeError("broken")),
    ...results.map((result) => async () => result as RateLimitResult),
  ];
  for (const [i, rateLimit] of wrong.entries()) {
    const told: unknown[] = [];
    const { status } = await ask(rateLimit, "/v1/pets", {}, told);
    assert.equal(status, 500, `${i}`);
    assert.ok(told[0] instanceof TypeError);
  }
});

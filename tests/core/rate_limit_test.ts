import assert from "node:assert/strict";
import test from "node:test";
import type { HandlerOptions, RateLimitResult } from "../../mod.ts";
import { type Answer, ask as send, type Question } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { storageThat } from "../support/storage_that.ts";

const HEADERS = {
  "retry-after": "5",
  "ratelimit-policy": '"key";q=100;w=10',
  "ratelimit": '"key";r=0;t=5',
};
const LIMITED: RateLimitResult = { allowed: false, headers: HEADERS };

interface Asked extends Question {
  readonly method?: string;
}

function ask(
  rateLimit: NonNullable<HandlerOptions["rateLimit"]>,
  path: string,
  { method = "GET", ...question }: Asked = {},
  told: unknown[] = [],
): Promise<Answer> {
  const onError = (cause: unknown) => void told.push(cause);
  const service = handleService({ rateLimit, onError });
  return send(service, method, path, question);
}

test("rateLimit is called with each valid key, and its fields stand on the 429", async () => {
  const callers: string[] = [];
  const response = await ask((key) => {
    callers.push(key);
    return Promise.resolve(LIMITED);
  }, "/pets");
  assert.deepEqual(callers, ["secret"]);
  assert.equal(response.status, 429);
  assert.deepEqual(Object.fromEntries(response.headers), {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...HEADERS,
  });
  const { code, status } = JSON.parse(response.text);
  assert.deepEqual([code, status], ["too_many_requests", 429]);
});

test("the header fields of a request within the limit stand on its answer, whatever that is", async () => {
  const headers = { ratelimit: '"key";r=7;t=5' };
  const within = () => Promise.resolve({ allowed: true, headers } as const);
  for (const path of ["/pets", "/pets?limit=0", "/pets/1"]) {
    const response = await ask(within, path);
    assert.notEqual(response.status, 429);
    assert.equal(response.headers.get("ratelimit"), headers.ratelimit, path);
  }
  const storage = storageThat(() => Promise.reject(new Error("broken")));
  const onError = () => {};
  const service = handleService({ storage, rateLimit: within, onError });
  const broken = await send(service, "GET", "/pets");
  assert.equal(broken.status, 500);
  assert.equal(broken.headers.get("ratelimit"), headers.ratelimit);
  const options = await ask(within, "/pets", { method: "OPTIONS" });
  assert.equal(options.headers.get("ratelimit"), null);
});

test("rateLimit may answer at once and without fields; a 429 then says to wait for 1 second", async () => {
  assert.equal((await ask(() => ({ allowed: true }), "/pets")).status, 200);
  for (const fields of [undefined, {}, { ratelimit: HEADERS.ratelimit }]) {
    const refusal = { allowed: false, ...fields && { headers: fields } };
    const { status, headers } = await ask(() => refusal, "/pets");
    assert.equal(status, 429);
    assert.equal(headers.get("retry-after"), "1");
  }
});

test("the limit comes after host, path, method and key, and before the body and the input", async () => {
  const limited = () => Promise.resolve(LIMITED);
  const never = () => assert.fail("called");
  const before: readonly [number, string, Asked?][] = [
    [400, "/pets", { headers: { host: "a/b" } }],
    [404, "/nothing"],
    [405, "/pets", { method: "PUT" }],
    [204, "/pets", { method: "OPTIONS" }],
    [401, "/pets", { headers: { authorization: "Bearer wrong" } }],
    [200, "/openapi.json"],
  ];
  for (const [status, path, init] of before) {
    assert.equal((await ask(never, path, init)).status, status, path);
  }
  const after: readonly [string, Asked?][] = [
    ["/pets?limit=0"],
    ["/pets", { method: "HEAD" }],
    ["/pets", { method: "POST" }],
    ["/pets", { method: "POST", headers: { "content-type": "text/plain" } }],
    ["/pets/1"],
  ];
  for (const [path, init] of after) {
    assert.equal((await ask(limited, path, init)).status, 429, path);
  }
});

test("a rateLimit that fails, returns something else, or fields that cannot be sent, is a 500 that onError is told of", async () => {
  const fields = [["x-a", "\u0001"], ["x-a", "\u007f"], ["content-length", "7"]]
    .concat([["transfer-encoding", "chunked"]]);
  const wrong: readonly unknown[] = [
    ...[{}, "", { headers: {} }, { allowed: 1, headers: {} }],
    ...fields.map((field) => ({
      allowed: true,
      headers: Object.fromEntries([field]),
    })),
  ];
  const unread = [null, { allowed: true, headers: { "a b": "c" } }];
  const told: unknown[] = [];
  for (const result of [...wrong, ...unread]) {
    const rateLimit = async () => result as RateLimitResult;
    const { status } = await ask(rateLimit, "/pets", {}, told);
    assert.equal(status, 500);
  }
  const broken = new Error("broken");
  await ask(() => Promise.reject(broken), "/pets", {}, told);
  assert.equal(told.pop(), broken);
  const said =
    "TypeError: Wrong result of rateLimit: it must be { allowed, headers }, with fields that can be sent";
  assert.deepEqual(
    told.map((cause) => String(cause)).slice(0, wrong.length),
    wrong.map(() => said),
  );
  assert.equal(told.length, wrong.length + unread.length);
});

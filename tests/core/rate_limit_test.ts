import assert from "node:assert/strict";
import test from "node:test";
import type { HandlerOptions, RateLimitResult } from "../../mod.ts";
import { type Answer, ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";

type RateLimit = NonNullable<HandlerOptions["rateLimit"]>;

const HEADERS = {
  "ratelimit-policy": '"key";q=100;w=10',
  "ratelimit": '"key";r=7;t=5',
};

function send(
  line: string,
  rateLimit: RateLimit,
  options: Partial<HandlerOptions> = {},
): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  const service = handleService({ onError() {}, ...options, rateLimit });
  return ask(service, method, path);
}

test("rateLimit is called with each valid key, and its fields stand on the 429", async () => {
  const headers = { "retry-after": "5", ...HEADERS };
  for (const line of ["GET /pets", "HEAD /pets", "POST /pets", "GET /pets/1"]) {
    const callers: string[] = [];
    const answer = await send(line, async (key) => {
      callers.push(key);
      return { allowed: false, headers };
    });
    assert.deepEqual([answer.status, callers], [429, ["secret"]], line);
    if (line !== "GET /pets") continue;
    assert.deepEqual(Object.fromEntries(answer.headers), {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      ...headers,
    }, line);
    assert.equal(JSON.parse(answer.text).code, "too_many_requests", line);
  }
});

test("rateLimit may answer without fields: a 429 then says to wait for 1 second", async () => {
  const { status } = await send("GET /pets", () => ({ allowed: true }));
  assert.equal(status, 200);
  for (const fields of [undefined, {}, { ratelimit: HEADERS.ratelimit }]) {
    const refusal = { allowed: false, ...fields && { headers: fields } };
    const { status, headers } = await send("GET /pets", () => refusal);
    assert.deepEqual(
      [status, headers.get("retry-after")],
      [429, "1"],
      JSON.stringify(fields),
    );
  }
});

test("a rateLimit that fails, or returns what cannot be sent, is a 500 with a report", async () => {
  const said =
    "TypeError: Wrong result of rateLimit: it must be { allowed, headers }, with fields that can be sent";
  const field = (name: string, value: string) => ({
    allowed: true,
    headers: { [name]: value },
  });
  const fields = { "x-a": "\u0001", "x-b": "\u007f", "content-length": "7" };
  const all = { ...fields, "transfer-encoding": "chunked" };
  const wrong = [
    {},
    "",
    { headers: {} },
    { allowed: 1, headers: {} },
    ...Object.entries(all).map(([name, value]) => field(name, value)),
  ];
  const broken = new Error("broken");
  const told: string[] = [];
  const onError = (cause: unknown) => void told.push(`${cause}`);
  for (const result of [...wrong, null, undefined, field("a b", "c"), broken]) {
    const rateLimit = async () => {
      if (result === broken) throw broken;
      return result as RateLimitResult;
    };
    assert.equal(
      (await send("GET /pets", rateLimit, { onError })).status,
      500,
      JSON.stringify(result),
    );
  }
  assert.deepEqual(told.splice(0, wrong.length), wrong.map(() => said));
  assert.deepEqual([told.length, told.pop()], [4, "Error: broken"]);
});

/** CORS and rate limits of the real server, over HTTP, on the runtime that runs the tests. */
import assert from "node:assert/strict";
import { get } from "node:http";
import process from "node:process";
import test from "node:test";
import { standardOutput } from "../../../adapters/standalone/output.ts";
import { ask } from "../../contract/ask.ts";
import { RUNTIME, skipping, testUnless } from "../../support/runtime.ts";
import { listen, openStandalone } from "../../support/server.ts";
import { startMain, startServe } from "../../support/standalone.ts";
import { rawRequest, statusOf } from "../../support/wire.ts";

const APP = "https://app.example.com";
const KEY = "secret";
const OTHER = "other";
const WRONG = "wrong";

/**
 * Requests to a server that allows two per hour: the answer to each, and what remains of which
 * limit.
 */
const REQUESTS: readonly (readonly [string, string, number, string?])[] = [
  ["GET /v1/pets", KEY, 200, "key 1"],
  ["POST /v1/pets", KEY, 400, "key 0"],
  ["GET /v1/pets", KEY, 429, "key 0"],
  ["POST /v1/pets", KEY, 429, "key 0"],
  ["GET /v1/pets/1", KEY, 429, "key 0"],
  ["GET /v1/pets", OTHER, 200, "key 1"],
  ["GET /v1/pets", "", 401, "address 1"],
  ["GET /v1/pets/1", WRONG, 401, "address 0"],
  ["GET /v1/pets", "", 429, "address 0"],
  ["GET /v1/pets/1", WRONG, 429, "address 0"],
  ["GET /v1/pets", OTHER, 200, "key 0"],
  // Checks before that of the key precede the limit too, and probes need no key.
  ["GET /livez", "", 200],
  ["PUT /v1/pets", "", 405],
];

test("RATE_LIMIT counts each key by itself, and requests without one by address", async (t) => {
  const service = await openStandalone(t, {
    PETSTORE_API_KEYS: "secret,other",
    RATE_LIMIT: "2/3600s",
    CORS_ORIGINS: `http://localhost:3000, ${APP}`,
  });
  const server = await listen(t, service.handle);
  for (const [line, key, expected, limit] of REQUESTS) {
    const [method = "", path = ""] = line.split(" ");
    const { status, headers, text } = await ask(
      { ...server, key: key || undefined },
      method,
      path,
      { headers: { origin: APP } },
    );
    assert.equal(status, expected, line);
    const readable = path.startsWith("/v1/") ? APP : null;
    assert.equal(headers.get("access-control-allow-origin"), readable, line);
    assert.ok(headers.has("x-request-id"), line);
    const [, policy, left, wait = ""] =
      /^"(\w+)";r=(\d);t=(3[56]\d\d)$/.exec(headers.get("ratelimit") ?? "") ??
        [];
    assert.equal(policy && `${policy} ${left}`, limit, line);
    if (status !== 429) continue;
    assert.equal(JSON.parse(text).code, "too_many_requests", line);
    assert.equal(headers.get("retry-after"), wait, line);
    assert.equal(
      headers.get("ratelimit-policy"),
      `"${policy}";q=2;w=3600`,
      line,
    );
    assert.equal(headers.has("sunset"), path === "/v1/pets/1", line);
  }
});

test("TRUST_PROXY counts and logs the address that the proxy adds", async (t) => {
  const service = await openStandalone(t, {
    REQUEST_LOG: "on",
    RATE_LIMIT: "1/3600s",
    TRUST_PROXY: "1",
  });
  let logged = "";
  const write = async (text: string) => void (logged += text);
  t.mock.method(standardOutput, "write", write);
  const { port } = await listen(t, service.handle);
  const cases = [
    ["192.0.2.1", 401],
    ["192.0.2.1", 429],
    ["192.0.2.2", 401],
    ["2001:db8::1", 401],
    ["2001:db8::2", 429],
  ] as const;
  for (const [client, expected] of cases) {
    // The proxy's is in another line of the field.
    const fields = ["6.6.6.6", client].map((one) => `X-Forwarded-For: ${one}`);
    const sent = rawRequest("GET /v1/pets", fields);
    assert.equal(await statusOf(port, sent), expected, client);
  }
  const clients = logged.trim().split("\n")
    .map((line) => JSON.parse(line).client);
  assert.deepEqual(clients, cases.map(([client]) => client));
});

/** The status of `GET /v1/pets` without a key, sent from an address of this machine. */
function statusFrom(localAddress: string, origin: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${origin}/v1/pets`, { localAddress, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}

const onLinux = {
  test: testUnless(skipping(
    process.platform !== "linux" &&
      "only Linux has all addresses from 127.0.0.1 to 127.255.255.254",
  )),
};

onLinux.test("RATE_LIMIT gives each client address its own window, in a program too", async (t) => {
  const start = RUNTIME === "deno" ? startServe : startMain;
  const env = { DATABASE_URL: "memory:", RATE_LIMIT: "1/3600s" };
  const { origin } = await start(t, { env });
  for (const address of ["127.0.0.2", "127.0.0.3"]) {
    assert.equal(await statusFrom(address, origin), 401, address);
    assert.equal(await statusFrom(address, origin), 429, address);
  }
});

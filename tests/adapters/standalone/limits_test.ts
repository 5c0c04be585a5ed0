/** CORS and rate limits of the server as it is: over HTTP, on the runtime that runs the tests. */
import assert from "node:assert/strict";
import { get } from "node:http";
import process from "node:process";
import test from "node:test";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { standardOutput } from "../../../adapters/standalone/output.ts";
import { openService } from "../../../adapters/standalone/service.ts";
import { skipping, testUnless } from "../../support/runtime.ts";
import { Wire } from "../../contract/wire.ts";
import { startServe } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const APP = "https://app.example.com";
const KEY = "Bearer secret";
const OTHER = "Bearer other";
const WRONG = "Bearer wrong";

/** Requests to a server that allows two in an hour: how each is answered, and what is left of which limit. */
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
  // What comes before the key comes before the limit; probes, the document and the page need none.
  ["GET /livez", "", 200],
  ["HEAD /readyz", "", 200],
  ["POST /livez", "", 405],
  ["GET /v1/openapi.json", "", 200],
  ["GET /", "", 200],
  ["GET /nothing", "", 404],
  ["PUT /v1/pets", "", 405],
  ["OPTIONS /v1/pets", "", 204],
];

test("RATE_LIMIT counts each key by itself and other requests by their address; CORS_ORIGINS lets pages read every answer below BASE_URL", async () => {
  const service = await openService(readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "secret,other",
    REQUEST_LOG: "off",
    RATE_LIMIT: "2/3600s",
    CORS_ORIGINS: `http://localhost:3000, ${APP}`,
  }));
  const serve = await loadServe();
  const server = await serve(service.handle, { port: 0 });
  try {
    for (const [line, authorization, expected, limit] of REQUESTS) {
      const [method = "", path = ""] = line.split(" ");
      const sent = { origin: APP, ...authorization && { authorization } };
      const answer = await fetch(server.url + path, { method, headers: sent });
      const { status, headers } = answer;
      const text = await answer.text();
      assert.equal(status, expected, line);
      const readable = path.startsWith("/v1/") ? APP : null;
      assert.equal(headers.get("access-control-allow-origin"), readable, line);
      assert.ok(headers.has("x-request-id"), line);
      const [, policy, left, wait = ""] =
        /^"(\w+)";r=(\d);t=(3[56]\d\d)$/.exec(headers.get("ratelimit") ?? "") ??
          [];
      assert.equal(policy && `${policy} ${left}`, limit, line);
      if (status !== 429) continue;
      assert.equal(JSON.parse(text).code, "too_many_requests");
      assert.equal(headers.get("retry-after"), wait);
      assert.equal(headers.get("ratelimit-policy"), `"${policy}";q=2;w=3600`);
      assert.equal(headers.has("sunset"), path === "/v1/pets/1");
    }
    const headers = { origin: "https://evil.example" };
    const stranger = await fetch(`${server.url}/livez`, { headers });
    assert.equal(stranger.headers.get("access-control-allow-origin"), null);
    await stranger.body?.cancel();
  } finally {
    await server.close();
    await service.close();
  }
});

test("TRUST_PROXY counts and logs the address that the proxy adds, also in another line of the field", async (t) => {
  const service = await openService(readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "secret",
    RATE_LIMIT: "1/3600s",
    TRUST_PROXY: "1",
  }));
  let logged = "";
  const write = async (text: string) => void (logged += text);
  t.mock.method(standardOutput, "write", write);
  const serve = await loadServe();
  const server = await serve(service.handle, { port: 0 });
  try {
    const cases = [
      ["192.0.2.1", 401],
      ["192.0.2.1", 429],
      ["192.0.2.2", 401],
      ["2001:db8::1", 401],
      ["2001:db8::2", 429],
      ["nobody", 401],
      ["none", 429], // both are the socket's address
    ] as const;
    for (const [client, expected] of cases) {
      const wire = await Wire.open(
        server.port,
        `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\n` +
          `X-Forwarded-For: ${client}\r\n\r\n`,
      );
      assert.equal((await wire.answer()).status, expected, client);
      wire.close();
    }
    const clients = logged.trim().split("\n")
      .map((line) => JSON.parse(line).client);
    assert.deepEqual(clients, [
      ...cases.slice(0, 5).map(([client]) => client),
      "127.0.0.1",
      "127.0.0.1",
    ]);
  } finally {
    await server.close();
    await service.close();
  }
});

/** The status of `GET /v1/pets` without a key, sent from an address of this machine. */
function statusFrom(localAddress: string, origin: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${origin}/v1/pets`, { localAddress, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}

const skip = skipping(
  process.platform !== "linux" &&
    "only Linux has all addresses from 127.0.0.1 to 127.255.255.254",
);

testUnless(skip)(
  "serve.ts counts each address by itself too",
  async (t) => {
    const cwd = newFolder(t);
    const env = { DATABASE_URL: "memory:", RATE_LIMIT: "1/3600s" };
    const server = await startServe({ cwd, env });
    try {
      for (const address of ["127.0.0.2", "127.0.0.3"]) {
        assert.equal(await statusFrom(address, server.origin), 401);
        assert.equal(await statusFrom(address, server.origin), 429);
      }
    } finally {
      await server.end();
    }
  },
);

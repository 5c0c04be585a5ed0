/** CORS and rate limits of the server as it is: over HTTP, on the runtime that runs the tests. */
import assert from "node:assert/strict";
import { get } from "node:http";
import process from "node:process";
import test from "node:test";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { openService } from "../../../adapters/standalone/service.ts";
import { skipping } from "../../support/skipping.ts";
import { RUNTIME, startServe, testInFolder } from "./program.ts";

const APP = "https://app.example.com";
const KEY = { authorization: "Bearer secret" };

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Ask = (path: string, init?: RequestInit) => Promise<Answer>;

function asker(origin: string): Ask {
  return async (path, init = {}) => {
    const response = await fetch(origin + path, init);
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  };
}

/** The status of `GET /v1/pets` without a key, sent from an address of this machine. */
function statusFrom(localAddress: string, origin: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${origin}/v1/pets`, { localAddress, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}

async function onServer(
  environment: Parameters<typeof readConfig>[0],
  work: (ask: Ask, origin: string) => Promise<void>,
): Promise<void> {
  const service = await openService(readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "secret,other",
    REQUEST_LOG: "off",
    ...environment,
  }));
  const serve = await loadServe();
  const server = await serve(service.handle, { port: 0 });
  try {
    await work(asker(server.url), server.url);
  } finally {
    await server.close();
    await service.close();
  }
}

function assertLimited(
  { status, headers, text }: Answer,
  policy: "key" | "address" = "key",
): void {
  assert.equal(status, 429);
  const { code, status: repeated } = JSON.parse(text);
  assert.deepEqual([code, repeated], ["too_many_requests", 429]);
  const seconds = Number(headers.get("retry-after"));
  assert.ok(seconds >= 3000 && seconds <= 3600, `${seconds}`);
  assert.equal(headers.get("ratelimit-policy"), `"${policy}";q=2;w=3600`);
  assert.equal(headers.get("ratelimit"), `"${policy}";r=0;t=${seconds}`);
  assert.equal(headers.get("cache-control"), "no-store");
  assert.ok(headers.has("x-request-id"));
}

test("RATE_LIMIT counts each key by itself, whatever is asked with it", async () => {
  await onServer({ RATE_LIMIT: "2/3600s" }, async (ask) => {
    assert.equal((await ask("/v1/pets", { headers: KEY })).status, 200);
    const unread = {
      method: "POST",
      headers: { ...KEY, "content-type": "text/plain" },
      body: "Rex",
    };
    assert.equal((await ask("/v1/pets", unread)).status, 415);
    assertLimited(await ask("/v1/pets", { headers: KEY }));
    assertLimited(await ask("/v1/pets", unread));
    const gone = await ask("/v1/pets/1", { headers: KEY });
    assertLimited(gone);
    assert.ok(gone.headers.has("sunset"), "a response of getPet, as any other");
    const other = { headers: { authorization: "Bearer other" } };
    assert.equal((await ask("/v1/pets", other)).status, 200);
  });
});

test("RATE_LIMIT counts requests without a valid key by their address, and no others", async () => {
  await onServer({ RATE_LIMIT: "2/3600s" }, async (ask) => {
    const wrong = { headers: { authorization: "Bearer wrong" } };
    const first = await ask("/v1/pets");
    assert.equal(first.status, 401);
    assert.equal(first.headers.get("ratelimit"), '"address";r=1;t=3600');
    assert.equal((await ask("/v1/pets/1", wrong)).status, 401);
    assertLimited(await ask("/v1/pets"), "address");
    const gone = await ask("/v1/pets/1", wrong);
    assertLimited(gone, "address");
    assert.ok(gone.headers.has("sunset"));
    assert.equal((await ask("/v1/pets", { headers: KEY })).status, 200);
    // What comes before the key comes before the limit.
    const nothing = await ask("/v1/nothing");
    assert.equal(nothing.status, 404);
    assert.equal(nothing.headers.get("ratelimit"), null);
    assert.equal((await ask("/v1/pets", { method: "PUT" })).status, 405);
    assert.equal((await ask("/v1/pets", { method: "OPTIONS" })).status, 204);
  });
});

const skip = skipping(
  process.platform !== "linux" &&
    "only Linux has all addresses from 127.0.0.1 to 127.255.255.254",
);

test("RATE_LIMIT does not count probes, the document and the page", async () => {
  await onServer({ RATE_LIMIT: "2/3600s" }, async (ask) => {
    for (const path of ["/livez", "/readyz", "/v1/openapi.json", "/"]) {
      for (let i = 0; i < 4; i++) {
        assert.equal((await ask(path, { headers: KEY })).status, 200, path);
        assert.equal((await ask(path)).status, 200, path);
      }
    }
    assert.equal((await ask("/v1/pets")).status, 401);
    assert.equal((await ask("/v1/pets", { headers: KEY })).status, 200);
  });
});

test("CORS_ORIGINS lets pages read every response, refusals of the server included", async () => {
  const environment = {
    CORS_ORIGINS: `http://localhost:3000, ${APP}`,
    RATE_LIMIT: "2/3600s",
  };
  await onServer(environment, async (ask) => {
    const statuses: number[] = [];
    for (const path of ["/v1/pets", "/v1/pets", "/v1/pets", "/x", "/livez"]) {
      const { status, headers } = await ask(path, { headers: { origin: APP } });
      statuses.push(status);
      assert.equal(headers.get("access-control-allow-origin"), APP);
      assert.equal(headers.get("vary"), "Origin");
      assert.match(
        headers.get("access-control-expose-headers") ?? "",
        /Retry-After, X-Request-Id/,
      );
      const origin = "https://evil.example";
      const { headers: evil } = await ask("/livez", { headers: { origin } });
      assert.equal(evil.get("access-control-allow-origin"), null);
      assert.equal(evil.get("vary"), "Origin");
    }
    assert.deepEqual(statuses, [401, 401, 429, 404, 200]);
    const preflight = await ask("/v1/pets", {
      method: "OPTIONS",
      headers: { origin: APP, "access-control-request-method": "POST" },
    });
    assert.equal(preflight.status, 204);
    assert.match(
      preflight.headers.get("access-control-allow-headers") ?? "",
      /Authorization, .*Idempotency-Key/,
    );
  });
});

testInFolder("serve.ts counts each address by itself too", async (cwd) => {
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
}, { skip: RUNTIME === "node" ? "Node does not run serve.ts" : skip });

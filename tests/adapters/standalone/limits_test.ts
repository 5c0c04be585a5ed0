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

type Ask = (
  path: string,
  headers?: Readonly<Record<string, string>>,
  method?: string,
) => Promise<Response>;

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
  work: (ask: Ask) => Promise<void>,
): Promise<void> {
  const service = await openService(readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "secret,other",
    REQUEST_LOG: "off",
    RATE_LIMIT: "2/3600s",
    ...environment,
  }));
  const serve = await loadServe();
  const server = await serve(service.handle, { port: 0 });
  try {
    await work((path, headers = {}, method = "GET") =>
      fetch(server.url + path, { method, headers })
    );
  } finally {
    await server.close();
    await service.close();
  }
}

async function assertLimited(
  answer: Response,
  policy: "key" | "address" = "key",
): Promise<void> {
  const { status, headers } = answer;
  assert.equal(status, 429);
  assert.equal((await answer.json()).code, "too_many_requests");
  const seconds = Number(headers.get("retry-after"));
  assert.ok(seconds >= 3000 && seconds <= 3600, `${seconds}`);
  assert.equal(headers.get("ratelimit-policy"), `"${policy}";q=2;w=3600`);
  assert.equal(headers.get("ratelimit"), `"${policy}";r=0;t=${seconds}`);
  const isOfGetPet = answer.url.endsWith("/pets/1");
  assert.equal(headers.has("sunset"), isOfGetPet, "as in any other response");
  assert.ok(headers.has("x-request-id"));
}

test("RATE_LIMIT counts each key by itself, whatever is asked with it", async () => {
  await onServer({}, async (ask) => {
    assert.equal((await ask("/v1/pets", KEY)).status, 200);
    assert.equal((await ask("/v1/pets", KEY, "POST")).status, 400);
    await assertLimited(await ask("/v1/pets", KEY));
    await assertLimited(await ask("/v1/pets", KEY, "POST"));
    await assertLimited(await ask("/v1/pets/1", KEY));
    const other = { authorization: "Bearer other" };
    assert.equal((await ask("/v1/pets", other)).status, 200);
  });
});

test("RATE_LIMIT counts requests without a valid key by their address, and no others", async () => {
  await onServer({}, async (ask) => {
    const wrong = { authorization: "Bearer wrong" };
    const first = await ask("/v1/pets");
    assert.equal(first.status, 401);
    assert.equal(first.headers.get("ratelimit"), '"address";r=1;t=3600');
    assert.equal((await ask("/v1/pets/1", wrong)).status, 401);
    await assertLimited(await ask("/v1/pets"), "address");
    await assertLimited(await ask("/v1/pets/1", wrong), "address");
    assert.equal((await ask("/v1/pets", KEY)).status, 200);
    // What comes before the key comes before the limit; probes, the document and the page need none.
    const uncounted = [
      "/livez",
      "/readyz",
      "/v1/openapi.json",
      "/",
      "/nothing",
    ];
    for (const path of uncounted) {
      const { status, headers } = await ask(path);
      assert.equal(status, path === "/nothing" ? 404 : 200, path);
      assert.equal(headers.get("ratelimit"), null);
    }
    assert.equal((await ask("/v1/pets", {}, "PUT")).status, 405);
    assert.equal((await ask("/v1/pets", {}, "OPTIONS")).status, 204);
  });
});

test("CORS_ORIGINS lets pages read every response, refusals of the server included", async () => {
  await onServer(
    { CORS_ORIGINS: `http://localhost:3000, ${APP}` },
    async (ask) => {
      const statuses: number[] = [];
      for (const path of ["/v1/pets", "/v1/pets", "/v1/pets", "/x", "/livez"]) {
        const { status, headers } = await ask(path, { origin: APP });
        statuses.push(status);
        assert.equal(headers.get("access-control-allow-origin"), APP);
      }
      assert.deepEqual(statuses, [401, 401, 429, 404, 200]);
      const { headers } = await ask("/livez", {
        origin: "https://evil.example",
      });
      assert.equal(headers.get("access-control-allow-origin"), null);
    },
  );
});

const skip = skipping(
  process.platform !== "linux" &&
    "only Linux has all addresses from 127.0.0.1 to 127.255.255.254",
);

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

import assert from "node:assert/strict";
import test from "node:test";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import {
  apiKeys,
  createHandler,
  type HandlerOptions,
  memoryStorage,
} from "../../../mod.ts";

const APP = "https://app.example.com";
const EXPOSED =
  "Link, Location, Retry-After, X-Request-Id, Sunset, Deprecation, Idempotency-Replayed, ETag, RateLimit, RateLimit-Policy";
const KEY = { authorization: "Bearer secret" };

type Headers = Readonly<Record<string, string>>;

async function ask(
  options: Partial<HandlerOptions>,
  path: string,
  { method = "GET", headers = KEY }: { method?: string; headers?: Headers } =
    {},
): Promise<{ readonly status: number; readonly headers: Headers }> {
  const handle = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    onError: () => {},
    ...options,
  });
  const response = await handle(
    new Request(`http://localhost${path}`, { method, headers }),
  );
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
  };
}

function preflight(origin: string): { method: string; headers: Headers } {
  const headers = { origin, "access-control-request-method": "POST" };
  return { method: "OPTIONS", headers };
}

test("a preflight is answered before the key, with all that a page may send", async () => {
  const cors = { origins: ["http://localhost:3000", APP] };
  assert.deepEqual(await ask({ cors }, "/v1/pets", preflight(APP)), {
    status: 204,
    headers: {
      allow: "GET, HEAD, POST, OPTIONS",
      vary: "Origin",
      "access-control-allow-origin": APP,
      "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
      "access-control-allow-headers":
        "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
      "access-control-max-age": "7200",
    },
  });
});

test("a preflight to a path that does not exist is a 404 that a page may read", async () => {
  const cors = { origins: [APP] };
  const { status, headers } = await ask({ cors }, "/v1/x", preflight(APP));
  assert.equal(status, 404);
  assert.equal(headers["access-control-allow-origin"], APP);
  assert.equal(headers["access-control-allow-methods"], undefined);
});

test("OPTIONS that is no preflight is answered as ever, to a page too", async () => {
  const cors = { origins: [APP] };
  assert.deepEqual(
    await ask({ cors }, "/v1/pets", {
      method: "OPTIONS",
      headers: { origin: APP },
    }),
    {
      status: 204,
      headers: {
        allow: "GET, HEAD, POST, OPTIONS",
        vary: "Origin",
        "access-control-allow-origin": APP,
        "access-control-expose-headers": EXPOSED,
      },
    },
  );
});

/** What is asked, and the status that comes, with each way in which a request can end. */
const ENDINGS: readonly (readonly [
  status: number,
  path: string,
  method?: string,
  headers?: Headers,
  options?: Partial<HandlerOptions>,
])[] = [
  [200, "/v1/pets"],
  [200, "/v1/pets", "HEAD"],
  [200, "/v1/openapi.json"],
  [304, "/v1/openapi.json", "GET", { "if-none-match": "*" }],
  [400, "/v1/pets", "POST"],
  [400, "/v1/pets", "GET", { ...KEY, host: "a/b" }],
  [401, "/v1/pets", "GET", {}],
  [401, "/v1/pets", "GET", { authorization: "Bearer wrong" }],
  [404, "/v1/pets/1"],
  [404, "/v1/store/orders"],
  [405, "/v1/pets", "PUT"],
  [415, "/v1/pets", "POST", {
    ...KEY,
    "content-length": "1",
    "content-type": "text/plain",
  }],
  [429, "/v1/pets", "GET", KEY, {
    rateLimit: () =>
      Promise.resolve({ allowed: false, headers: { "retry-after": "1" } }),
  }],
  [500, "/v1/pets", "GET", KEY, {
    keys: { verify: () => Promise.reject(new Error("broken")) },
  }],
  [503, "/v1/pets", "GET", KEY, {
    keys: {
      verify: () => Promise.reject(new StorageError("unavailable", "away")),
    },
  }],
];

for (const [status, path, method = "GET", sent = KEY, options] of ENDINGS) {
  const name = `${method} ${path} with ${JSON.stringify(sent)} is ${status}`;

  test(`${name}, and only a page of an allowed origin may read it`, async () => {
    const plain = await ask(options ?? {}, path, { method, headers: sent });
    assert.equal(plain.status, status);

    async function added(origin: string | undefined, origins: string[] | "*") {
      const headers = { ...sent, ...origin === undefined ? {} : { origin } };
      const answer = await ask({ ...options, cors: { origins } }, path, {
        method,
        headers,
      });
      assert.equal(answer.status, status);
      const rest = Object.entries(answer.headers).filter(([name]) =>
        !(name in plain.headers)
      );
      assert.equal(
        Object.keys(answer.headers).length - rest.length,
        Object.keys(plain.headers).length,
      );
      return Object.fromEntries(rest);
    }

    const readable = { "access-control-expose-headers": EXPOSED };
    const vary = "Origin";
    assert.deepEqual(await added(APP, [APP]), {
      ...readable,
      "access-control-allow-origin": APP,
      vary,
    });
    assert.deepEqual(await added("https://evil.example", [APP]), { vary });
    assert.deepEqual(await added("null", [APP]), { vary });
    assert.deepEqual(await added(undefined, [APP]), { vary });
    const toAll = { ...readable, "access-control-allow-origin": "*" };
    assert.deepEqual(await added("https://any.example", "*"), toAll);
    assert.deepEqual(await added(undefined, "*"), toAll);
  });
}

test("an origin is a scheme, a host, and a port if it is not the usual one", async () => {
  const right = [
    "http://localhost:3000",
    "http://[::1]:8000",
    "capacitor://localhost",
    "chrome-extension://abcdefghijklmnop",
  ];
  for (const origin of right) {
    const { headers } = await ask({ cors: { origins: right } }, "/v1/pets", {
      headers: { ...KEY, origin },
    });
    assert.equal(headers["access-control-allow-origin"], origin);
  }
  const wrongOrigins = ["*", "null", "", undefined, "app.example.com"]
    .concat(`${APP}/`, `${APP}/shop`, `${APP}:443`, "https://App.example.com")
    .concat("https://user@app.example.com", "https://*.example.com");
  const wrong = [undefined, null, APP, [], [APP, "file://"]];
  for (const origins of [...wrong, ...wrongOrigins.map((one) => [one])]) {
    const cors = { origins } as HandlerOptions["cors"];
    await assert.rejects(
      ask({ cors } as Partial<HandlerOptions>, "/v1/pets"),
      { name: "TypeError", message: /^Wrong option cors\.origins: / },
      JSON.stringify(origins),
    );
  }
});

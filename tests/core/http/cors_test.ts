import assert from "node:assert/strict";
import { corsLayer } from "../../../core/http/cors.ts";
import test from "node:test";
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

/** The ways in which requests end: each answer passes the layer, whoever made it. */
const ENDINGS: readonly (readonly [
  status: number,
  path: string,
  question?: { method?: string; headers?: Headers },
  options?: Partial<HandlerOptions>,
])[] = [
  [200, "/v1/pets"],
  [304, "/v1/openapi.json", { headers: { "if-none-match": "*" } }],
  [400, "/v1/pets", { headers: { ...KEY, host: "a/b" } }],
  [401, "/v1/pets", { headers: {} }],
  [404, "/v1/store/orders"],
  [405, "/v1/pets", { method: "PUT" }],
  [415, "/v1/pets", {
    method: "POST",
    headers: { ...KEY, "content-length": "1", "content-type": "text/plain" },
  }],
  [429, "/v1/pets", {}, {
    rateLimit: () =>
      Promise.resolve({ allowed: false, headers: { "retry-after": "1" } }),
  }],
  [500, "/v1/pets", {}, {
    keys: { verify: () => Promise.reject(new Error("broken")) },
  }],
];

for (const [status, path, question = {}, options = {}] of ENDINGS) {
  test(`a ${status} may be read by the pages of allowed origins only`, async () => {
    const sent = question.headers ?? KEY;
    const plain = await ask(options, path, question);
    assert.equal(plain.status, status);

    const readable = { "access-control-expose-headers": EXPOSED };
    const vary = { vary: "Origin" };
    const toApp = { "access-control-allow-origin": APP, ...vary };
    const toAll = { "access-control-allow-origin": "*" };
    for (
      const [origin, origins, added] of [
        [APP, [APP], { ...readable, ...toApp }],
        ["https://evil.example", [APP], vary],
        ["null", [APP], vary],
        [undefined, [APP], vary],
        ["https://any.example", "*", { ...readable, ...toAll }],
        [undefined, "*", { ...readable, ...toAll }],
      ] as const
    ) {
      const headers = { ...sent, ...origin === undefined ? {} : { origin } };
      const cors = { origins };
      const answer = await ask({ ...options, cors }, path, {
        ...question,
        headers,
      });
      assert.deepEqual(answer, {
        status,
        headers: { ...plain.headers, ...added },
      });
    }
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

test("wrong origins are refused with an example of right ones", () => {
  const message =
    'Wrong option cors.origins: it must be "*" or a list of origins such as ' +
    '"https://app.example.com", not ["a"]';
  assert.throws(() => corsLayer({ origins: ["a"] }), { message });
});

import assert from "node:assert/strict";
import test from "node:test";
import type { HandlerOptions } from "../../../mod.ts";
import { ask as send } from "../../contract/ask.ts";
import { handleService } from "../../contract/handle_service.ts";

const APP = "https://app.example.com";
const EXPOSED =
  "Link, Location, Retry-After, X-Request-Id, Sunset, Deprecation, Idempotency-Replayed, ETag, RateLimit, RateLimit-Policy, WWW-Authenticate, Allow, Accept";
const NO_KEY = { authorization: undefined };

type Headers = Readonly<Record<string, string | undefined>>;

async function ask(
  options: Partial<HandlerOptions>,
  path: string,
  { method = "GET", headers = {} }: { method?: string; headers?: Headers } = {},
): Promise<{ readonly status: number; readonly headers: Headers }> {
  const service = handleService({ onError: () => {}, ...options });
  const answer = await send(service, method, path, { headers });
  return { status: answer.status, headers: Object.fromEntries(answer.headers) };
}

function preflight(origin: string): { method: string; headers: Headers } {
  const asked = { "access-control-request-method": "POST" };
  const headers = { ...NO_KEY, ...asked, origin };
  return { method: "OPTIONS", headers };
}

test("a preflight is answered before the key, with all that a page may send", async () => {
  const cors = { origins: ["http://localhost:3000", APP] };
  assert.deepEqual(await ask({ cors }, "/pets", preflight(APP)), {
    status: 204,
    headers: {
      allow: "GET, HEAD, POST, OPTIONS",
      vary: "Origin",
      "access-control-allow-origin": APP,
      "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
      "access-control-allow-headers":
        "Authorization, Content-Type, Idempotency-Key, X-Request-Id, If-None-Match",
      "access-control-max-age": "7200",
    },
  });
});

test("a preflight to a path that does not exist is a 404 that a page may read", async () => {
  const cors = { origins: [APP] };
  const { status, headers } = await ask({ cors }, "/x", preflight(APP));
  assert.equal(status, 404);
  assert.equal(headers["access-control-allow-origin"], APP);
  assert.equal(headers["access-control-allow-methods"], undefined);
});

test("OPTIONS that is no preflight is answered as ever, to a page too", async () => {
  const cors = { origins: [APP] };
  assert.deepEqual(
    await ask({ cors }, "/pets", {
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
  [200, "/pets"],
  [304, "/openapi.json", { headers: { "if-none-match": "*" } }], // it has a Vary too
  [400, "/pets", { headers: { host: "a/b" } }],
  [401, "/pets", { headers: NO_KEY }],
  [404, "/store/orders"],
  [405, "/pets", { method: "PUT" }],
  [415, "/pets", {
    method: "POST",
    headers: { "content-length": "1", "content-type": "text/plain" },
  }],
  [429, "/pets", {}, {
    rateLimit: () =>
      Promise.resolve({ allowed: false, headers: { "retry-after": "1" } }),
  }],
  [500, "/pets", {}, {
    keys: { verify: () => Promise.reject(new Error("broken")) },
  }],
];

for (const [status, path, question = {}, options = {}] of ENDINGS) {
  test(`a ${status} may be read by the pages of allowed origins only`, async () => {
    const plain = await ask(options, path, question);
    assert.equal(plain.status, status);

    const readable = { "access-control-expose-headers": EXPOSED };
    const others = plain.headers.vary;
    const vary = { vary: others ? `${others}, Origin` : "Origin" };
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
      const headers = { ...question.headers, origin };
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
    const { headers } = await ask({ cors: { origins: right } }, "/pets", {
      headers: { origin },
    });
    assert.equal(headers["access-control-allow-origin"], origin);
  }
  const wrongOrigins = ["*", "null", "", undefined, "app.example.com"]
    .concat(`${APP}/`, `${APP}/shop`, `${APP}:443`, "https://App.example.com")
    .concat("https://user@app.example.com", "https://*.example.com");
  const wrong = [undefined, null, APP, [], [APP, "file://"]];
  for (const origins of [...wrong, ...wrongOrigins.map((one) => [one])]) {
    const cors = { origins } as HandlerOptions["cors"];
    const message =
      'Wrong option cors.origins: it must be "*" or a list of origins such as ' +
      `"https://app.example.com", not ${
        JSON.stringify(origins)?.replace("https://user@", "…@")
      }`;
    await assert.rejects(ask({ cors } as Partial<HandlerOptions>, "/pets"), {
      name: "TypeError",
      message,
    });
  }
});

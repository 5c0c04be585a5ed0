import assert from "node:assert/strict";
import test from "node:test";
import type { HandlerOptions } from "../../../mod.ts";
import { ask } from "../../contract/ask.ts";
import { handleService } from "../../support/handle_service.ts";

const APP = "https://app.example.com";
const EXPOSED = {
  "access-control-expose-headers":
    "Link, Location, Retry-After, X-Request-Id, Sunset, Deprecation, Idempotent-Replayed, ETag, RateLimit, RateLimit-Policy, WWW-Authenticate, Allow, Accept",
};
const TO_APP = { "access-control-allow-origin": APP };
const TO_ALL = { "access-control-allow-origin": "*" };
const PREFLIGHT = { "access-control-request-method": "POST" };

/** Answers a request; returns status and fields. */
async function answer(
  line: string,
  headers: Readonly<Record<string, string | undefined>>,
  options: Partial<HandlerOptions>,
) {
  const [method = "", path = ""] = line.split(" ");
  const service = handleService({ onError: () => {}, ...options });
  const got = await ask(service, method, path, { headers });
  return { status: got.status, fields: Object.fromEntries(got.headers) };
}

const rateLimit = async () => ({ allowed: false, headers: {} });
const verify = () => Promise.reject(new Error("broken"));

/** The ways in which requests end. Each answer passes through the layer, whatever made it. */
const cases = [
  [200, "GET /pets"],
  [204, "OPTIONS /pets"],
  [304, "GET /openapi.json", { "if-none-match": "*" }], // it has a Vary too
  [400, "GET /pets", { host: "a/b" }],
  [401, "GET /pets", { authorization: "" }],
  [404, "OPTIONS /store/orders", PREFLIGHT],
  [405, "PUT /pets", PREFLIGHT],
  [429, "GET /pets", {}, { rateLimit }],
  [500, "GET /pets", {}, { keys: { verify } }],
] as const;
for (const [status, line, headers = {}, options = {}] of cases) {
  test(`a ${status} may be read by the pages of allowed origins only`, async () => {
    const plain = await answer(line, headers, options);
    assert.equal(plain.status, status);
    const { vary: others } = plain.fields;
    const vary = { vary: others ? `${others}, Origin` : "Origin" };
    const cases = [
      [APP, ["http://localhost:3000", APP], {
        ...vary,
        ...TO_APP,
        ...EXPOSED,
      }],
      ["https://evil.example", [APP], vary],
      ["null", [APP], vary],
      [undefined, [APP], vary],
      ["https://any.example", "*", { ...TO_ALL, ...EXPOSED }],
      [undefined, "*", { ...TO_ALL, ...EXPOSED }],
    ] as const;
    for (const [origin, origins, added] of cases) {
      const cors = { ...options, cors: { origins } };
      const fields = { ...plain.fields, ...added };
      const expected = { status, fields };
      const got = await answer(line, { ...headers, origin }, cors);
      assert.deepEqual(got, expected, `${origin}`);
    }
  });
}

test("a preflight is answered before the key, with all that a page may send", async () => {
  const headers = { ...PREFLIGHT, origin: APP, authorization: undefined };
  const cors = { cors: { origins: [APP] } };
  assert.deepEqual(await answer("OPTIONS /pets", headers, cors), {
    status: 204,
    fields: {
      ...TO_APP,
      vary: "Origin",
      allow: "GET, HEAD, POST, OPTIONS",
      "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
      "access-control-allow-headers":
        "Authorization, Content-Type, Idempotency-Key, X-Request-Id, If-None-Match",
      "access-control-max-age": "7200",
    },
  });
});

test("only answers below baseUrl may be read by pages", async () => {
  const cors = { origins: "*" } as const;
  const handle = handleService({ cors, baseUrl: "/shop/v1" }).fetch;
  const cases = [
    ["/shop/v1/pets", "*"],
    ["/shop/v1/none?at=/", "*"],
    ["/shop/v%31/pets", "*"],
    ["/shop/v1", null],
    ["/shop/v1.1/pets", null],
    ["/?/shop/v1/pets", null],
    ["/metrics", null],
  ] as const;
  for (const [path, expected] of cases) {
    const { headers } = await handle(new Request(`http://localhost${path}`));
    const got = headers.get("access-control-allow-origin");
    assert.equal(got, expected, path);
  }
});

test("an origin is a scheme, a host, and a port if it is not the usual one", async () => {
  const right = "http://localhost:3000 http://[::1]:8000 capacitor://localhost"
    .split(" ");
  for (const origin of right) {
    const cors = { cors: { origins: right } };
    const { fields } = await answer("GET /pets", { origin }, cors);
    assert.equal(fields["access-control-allow-origin"], origin);
  }
  const wrong = `* null app.example.com ${APP}/ ${APP}/shop ${APP}:443 
    https://App.example.com https://user@app.example.com https://*.example.com`
    .split(/\s+/).map((one) => [one]);
  const none = [undefined, null, APP, [], [""], [null], [APP, "file://"]];
  for (const origins of [...none, ...wrong]) {
    const cors = { origins } as NonNullable<HandlerOptions["cors"]>;
    assert.throws(() => handleService({ cors }), {
      name: "TypeError",
      message:
        'Wrong option cors.origins: it must be "*" or a list of origins such as ' +
        `"https://app.example.com" (no slash at the end), not ${
          JSON.stringify(origins)?.replace("https://user@", "…@")
        }`,
    });
  }
  const others: readonly (readonly [unknown, RegExp])[] = [
    [{ origins: 5n }, /, not bigint$/],
    [{ origins: [{ password: "secret" }] }, /, not \[object\]$/],
    [
      { origins: "*", maxAge: 5 },
      /^Unknown option maxAge: cors accepts origins$/,
    ],
    [null, /^cors accepts an object with options: origins$/],
    ["*", /^cors accepts an object with options: origins$/],
  ];
  for (const [cors, message] of others) {
    const options = { cors } as HandlerOptions;
    assert.throws(
      () => handleService(options),
      { name: "TypeError", message },
      `${message}`,
    );
  }
});

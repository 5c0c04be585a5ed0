/** Law: whatever is sent, the answer is well-formed, and never a fault of the service. */
import assert from "node:assert/strict";
import test from "node:test";
import { type Answer, ask, type OpenService } from "../contract/ask.ts";
import { assertAnyError, assertJsonHeaders } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { anyText, codeUnit, fc, runs } from "../support/property.ts";
import { assertDeclared, OPERATIONS } from "./openapi_schema.ts";

/** Any bytes, some of them nearly JSON. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(...'{}[]",:0-1.e+\\u \n') }).map((text) =>
    new TextEncoder().encode(text)
  ),
  fc.jsonValue().map((value) =>
    new TextEncoder().encode(JSON.stringify(value))
  ),
);

// Methods that Request accepts: any token, except three.
const method = fc.oneof(
  fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"),
  fc.string({
    unit: fc.constantFrom(..."!#$%&'*+-.^_`|~019AZaz"),
    minLength: 1,
    maxLength: 8,
  }).filter((name) => !/^(?:connect|trace|track)$/i.test(name)),
);

const path = fc.oneof(
  fc.constantFrom("/pets", "/pets/1", "/pets/x", "/store/orders", "", "//"),
  fc.webPath(),
  anyText().map((text) => `/pets/${text}`),
  fc.uint8Array({ maxLength: 20 }).map((all) =>
    `/pets/${Array.from(all, (byte) => `%${byte.toString(16)}`).join("")}`
  ),
);

const query = fc.oneof(
  fc.constant(""),
  fc.webQueryParameters().map((text) => `?${text}`),
  anyText().map((text) => `?${text}`),
  fc.tuple(
    fc.constantFrom("limit", "status", "after", "x"),
    anyText(),
  ).map(([name, value]) => `?${name}=${encodeURIComponent(value)}`),
);

/** Bytes that a header may carry (RFC 9110 §5.5), as Headers has them. */
const fieldValue = fc.string({
  unit: fc.oneof(
    codeUnit(0x20, 0x7e),
    codeUnit(0x80, 0xff),
    fc.constant("\t"),
  ),
});
const valueOf = (...usual: string[]): fc.Arbitrary<string | undefined> =>
  fc.oneof(fc.constant(undefined), fc.constantFrom(...usual), fieldValue);

const headers = fc.record({
  authorization: fc.oneof(
    { arbitrary: fc.constant("Bearer secret"), weight: 4 },
    valueOf("Bearer", "Basic x", "Bearer wrong"),
  ),
  "content-type": fc.oneof(
    { arbitrary: fc.constant("application/json"), weight: 2 },
    valueOf("text/plain", "application/json; charset=utf-8"),
  ),
  "content-encoding": fc.option(valueOf("gzip"), { nil: undefined, freq: 9 }),
  "content-length": valueOf("0", "99999999", "-1", "1e400"),
  host: fc.option(valueOf("localhost", "a/b"), { nil: undefined, freq: 3 }),
  "x-forwarded-host": valueOf("evil.example"),
  expect: valueOf("100-continue"),
  accept: valueOf("text/html"),
});

/** Asserts what is true of every answer of a service whose storage is sound. */
function assertWellFormed(answer: Answer, method: string): void {
  const { status, headers, text } = answer;
  assert.ok(status < 500, `${status} ${text}`);
  if (method === "HEAD" || status === 204) {
    assert.equal(text, "");
    if (status !== 204) assertJsonHeaders(headers);
  } else if (status === 200 || status === 201) {
    assertJsonHeaders(headers);
    JSON.parse(text);
  } else {
    assertAnyError(answer);
  }
  assert.equal(headers.has("www-authenticate"), status === 401);
  assert.equal(headers.has("accept"), status === 415);
  assert.equal(headers.has("allow"), status === 405 || status === 204);
  assert.equal(headers.has("location"), status === 201);
}

/** A fresh service, and whatever goes wrong in it while `act` talks to it. */
async function withCauses(
  act: (service: OpenService) => Promise<void>,
): Promise<void> {
  const causes: unknown[] = [];
  const onError = (cause: unknown): void => void causes.push(cause);
  await act(handleService({ onError })).catch((error) => causes.push(error));
  // The first is why there is a second, such as a 500.
  if (causes.length > 0) throw causes[0];
}

/** Asserts that the document declares the answer. */
function assertDescribed(answer: Answer, { url, method }: Request): void {
  const { pathname } = new URL(url);
  const onPath = Object.values(OPERATIONS).filter(({ path }) =>
    RegExp(`^/v1${path.replace("{petId}", "[^/]+")}$`).test(pathname)
  );
  const isHead = method === "HEAD";
  const operation = onPath.find((one) =>
    one.method === (isHead ? "GET" : method)
  );
  if (operation !== undefined) {
    return assertDeclared(answer, { operation, isHead });
  }
  const known = method === "OPTIONS" ? 204 : 405;
  // A malformed Host is refused before the path is looked at.
  const expected = [onPath.length > 0 ? known : 404, 400];
  assert.ok(expected.includes(answer.status), `${answer.status}`);
}

test("any request of fetch gets a well-formed answer that is declared, never 5xx", async () => {
  const anything = fc.record({ method, path, query, headers, body: bytes });
  await fc.assert(
    fc.asyncProperty(anything, (request) =>
      withCauses(async (service) => {
        const { method, path, query, headers, body } = request;
        const address = path + query;
        const hasBody = !/^(?:get|head)$/i.test(method);
        const question = hasBody ? { headers, body } : { headers };
        const answer = await ask(service, method, address, question);
        const sent = new Request(service.base + address, { method });
        assertWellFormed(answer, sent.method);
        assertDescribed(answer, sent);
      })),
    runs(1000),
  );
});

// Servers concatenate `Host` and target as received; handle gets what no URL parser has seen.
test("any text as method, URL and Host get a well-formed answer, never 5xx", async () => {
  const anyLine = fc.oneof(
    anyText(),
    fc.string({ unit: fc.constantFrom(..."/:?#[]@%*.avpets1") }),
  );
  const url = fc.oneof(
    anyLine,
    anyLine.map((text) => `http://${text}`),
    anyLine.map((text) => `http://localhost/${text}`),
    anyLine.map((text) => `http://localhost/v1/pets${text}`),
  );
  await fc.assert(
    fc.asyncProperty(
      anyLine,
      url,
      fc.option(fieldValue),
      (method, url, host) =>
        withCauses(async ({ fetch }) => {
          const headers = new Headers({ authorization: "Bearer secret" });
          if (host !== null) headers.set("host", host);
          const response = await fetch(
            { method, url, headers, body: null } as Request,
          );
          const text = await response.text();
          const { status } = response;
          assertWellFormed({ status, headers: response.headers, text }, method);
        }),
    ),
    runs(1000),
  );
});

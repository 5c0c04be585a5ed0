/** What a call rejects with if it is refused, or has no response. */
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { ERROR_STATUS } from "../../../core/answer.ts";
import {
  BASE,
  failure,
  json,
  KEY,
  page,
  petJson,
  refusal,
  scripted,
  watchedBody,
} from "./scripted.ts";
import { fc } from "../../support/property.ts";
import { CALLS, fails } from "./fails.ts";

test("each code of the service arrives as it is, and below 500 is certain", async () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    const step = () => refusal(code, status, {}, "Why");
    const read = await fails("list", step, code, status);
    assert.deepEqual([read.message, read.uncertain], ["Why", false], code);
    const created = await fails("create", step, code, status);
    assert.equal(created.uncertain, status >= 500, code);
  }
});

test("a code that is unknown arrives as it is, and proves nothing of a create", async () => {
  for (const code of ["teapot", "constructor"]) {
    const error = await fails("create", refusal(code, 418), code, 418);
    assert.deepEqual([error.message, error.uncertain], ["No", true], code);
  }
});

test("an error page of a proxy is http_error with its status, and not quoted", async () => {
  for (const status of [400, 401, 404, 413, 429, 500, 502, 503, 504]) {
    const error = await fails("list", page(status), "http_error", status);
    assert.match(
      error.message,
      RegExp(`^Cannot list pets: .*${status}`),
      `${status}`,
    );
    assert.ok(error.message.length < 100, `${status}`);
    assert.doesNotMatch(inspect(error), /sorry/, `${status}`);
  }
});

test("JSON that only resembles an Error of the service is http_error", async () => {
  const wrong = [
    { status: 400 },
    { status: "404" },
    { code: "bad_request" },
    { code: "Not Found" },
    { code: "teapot", status: 418 },
    { message: 7 },
    { message: undefined },
  ].map((part) => ({ code: "not_found", message: "No", status: 404, ...part }));
  for (const body of [...wrong, null]) {
    const text = JSON.stringify(body);
    await fails("get", json(text, { status: 404 }), "http_error", 404);
  }
  await fails("get", refusal("teapot", 399), "http_error", 399);
});

test("a redirect that a browser hides is http_error without a status", async () => {
  // Such a Response cannot be made by hand, so an object with the parts that are read replaces it.
  const opaque = { status: 0, headers: new Headers(), body: null, url: "" };
  const step = () => opaque as Response;
  const { message } = await fails("list", step, "http_error");
  assert.match(message, /redirect/);
});

test("the request id is on the error", async () => {
  const headers = { "x-request-id": "7f3a" };
  const broken = watchedBody(["[", " "], "fails").body;
  const cases = [
    [refusal("not_found", 404, headers), "not_found", 404],
    [page(500, headers), "http_error", 500],
    [json("{}", { headers }), "invalid_response", 200],
    [new Response(broken, { headers }), "network_error", 200],
  ] as const;
  for (const [response, code, status] of cases) {
    const { requestId } = await fails("list", response, code, status);
    assert.equal(requestId, "7f3a", code);
  }
  const none = await fails("get", refusal("not_found", 404), "not_found", 404);
  assert.equal(none.requestId, undefined);
});

test("a request without a response is network_error, with cause and reason", async () => {
  const reasons = new AggregateError(["a", "b"].map((why) => Error(why)));
  const endless = new Error("its own cause");
  endless.cause = endless;
  const cases = [
    [new RangeError("at once"), "at once"],
    ["no route", "no route"],
    [endless, "its own cause"],
    [new TypeError("fetch failed", { cause: reasons }), "a"],
    [new TypeError(`proxy refuses Bearer ${KEY}`), "proxy refuses Bearer …"],
    // As Deno puts it.
    [new TypeError(`error sending request for url (${BASE}): why`), "why"],
  ] as const;
  for (const [cause, reason] of cases) {
    const throws = () => {
      throw cause;
    };
    for (const step of [throws, () => Promise.reject(cause)]) {
      const read = await fails("list", step, "network_error");
      const told = `no response from http://localhost (${reason})`;
      assert.equal(read.message, `Cannot list pets: ${told}`, reason);
      assert.equal(read.cause, cause, reason);
      assert.equal(read.uncertain, false, reason);
      const created = await fails("create", step, "network_error");
      assert.equal(created.message, `Cannot create pet: ${told}`, reason);
      assert.equal(created.uncertain, true, reason);
    }
  }
});

test("a response that breaks off is network_error with its status", async () => {
  const body = watchedBody(["[", " "], "fails").body;
  const error = await fails("list", new Response(body), "network_error", 200);
  assert.match(error.message, /the response broke off/);
  assert.ok(error.cause instanceof TypeError);
});

test("a long or many-lined message is taken over short and on one line", async () => {
  const { client } = scripted([
    refusal("not_found", 404, {}, `\u001b[31m${"no\n".repeat(100_000)}`),
  ]);
  const { message } = await failure(client.getPet(1n));
  assert.equal(message.length, 1000);
  assert.match(message, /^ \[31mno no no/);
  assert.doesNotMatch(message, /\p{Cc}/u);
});

// Whatever a server, a proxy or the network says: it may echo the key in every part of a response.
test("the key is in no error, nor in what is shown of it or of the client", async () => {
  const part = fc.constantFrom(
    `x${KEY}${KEY}y`,
    `${KEY.slice(0, 8)}${KEY}${KEY.slice(8)}`,
    [...KEY].join("\n"),
    "x",
  );
  const response = fc.record({
    code: fc.oneof(part, fc.constantFrom(...Object.keys(ERROR_STATUS))),
    message: part,
    status: fc.constantFrom(200, 201, 302, 400, 404, 500, 502, 503),
    isError: fc.boolean(),
    id: part,
    link: part,
  });
  await fc.assert(fc.asyncProperty(response, async (r) => {
    const id = r.id.replaceAll("\n", " ");
    const link = `<http://${r.link.replaceAll("\n", " ")}/>; rel="next"`;
    const step = () =>
      json(
        r.isError
          ? JSON.stringify(r)
          : `[${petJson(1n, r.message)}, ${r.message}`,
        { status: r.status, headers: { "x-request-id": id, link } },
      );
    const { client } = scripted([step, step, step, step], { retries: 0 });
    for (const call of Object.values(CALLS)) {
      const error = await failure(call(client));
      const shown = [
        String(error),
        error.stack,
        inspect(error, { depth: 9, showHidden: true }),
        JSON.stringify(error),
      ];
      for (const text of shown) assert.ok(!text?.includes(KEY), `${text}`);
    }
    const shown = inspect(client, { depth: 9, showHidden: true });
    assert.match(shown, /listPets/);
    assert.ok(!shown.includes(KEY) && !JSON.stringify(client).includes(KEY));
  }));
});

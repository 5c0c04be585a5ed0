/** A service that gives no answer: under each server, and as a fetch function. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { toNodeListener } from "../../../adapters/http/node/mod.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import {
  type Layer,
  noAnswer,
  toHandler,
  withFields,
} from "../../../core/kit.ts";
import { assertError } from "../../contract/error_reply.ts";
import { atEnd } from "../../support/at_end.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { listenOn } from "../../support/server.ts";
import { saying } from "./stage.ts";

const REASON = /^Error: The service gave no answer/;
const URL = "http://localhost/";

async function assertRefused(response: Response): Promise<void> {
  const { status, headers } = response;
  const text = await response.text();
  assertError({ status, headers, text }, "internal_error");
}

/** Gives no answer on the path `/none`. */
const withGap: Layer = (service) => async (request, ...rest) =>
  request.url.endsWith("/none") ? noAnswer : await service(request, ...rest);
const service = withGap(saying("whole"));

test("toHandler answers 500 if a service gives no answer, and tells onError why", async () => {
  const calls: unknown[][] = [];
  const onError = (...call: unknown[]) => void calls.push(call);
  const request = new Request(`${URL}none`);
  const response = await toHandler(service, onError)(request);
  await assertRefused(response);
  const [[cause, ...others] = []] = calls;
  assert.match(String(cause), REASON);
  assert.deepEqual(others, [request, undefined, undefined]);
  assert.equal(
    (await toHandler(service, onError)(new Request(URL))).status,
    200,
  );
  assert.equal(calls.length, 1);
});

test("without onError the reason is written to the console, and it never rejects", async (t) => {
  const { mock } = t.mock.method(console, "error", () => {});
  const response = await toHandler(service)(new Request(`${URL}none`));
  assert.equal(response.status, 500);
  assert.match(String(mock.calls[0]?.arguments[0]), REASON);
});

test("fields that a layer adds are in the 500, and no answer stays none", async () => {
  const named: Layer = (service) => async (...request) =>
    withFields(await service(...request), { server: "petstore" });
  const handle = toHandler(named(service), () => {});
  const response = await handle(new Request(`${URL}none`));
  assert.equal(response.headers.get("server"), "petstore");
  const request = new Request(`${URL}none`);
  const nothing = async () => new Uint8Array();
  assert.equal((await handle.answer(request, {}, nothing)).isSent, false);
});

test("a layer or an endpoint of createHandler can give no answer", async () => {
  const routes: unknown[] = [];
  const handle = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    layers: [withGap],
    endpoints: [
      { method: "GET", path: "/a", isPublic: true, run: async () => noAnswer },
    ],
    onError: (cause, _request, route) =>
      void routes.push(REASON.test(String(cause)) && String(route)),
  });
  for (const path of ["none", "a"]) {
    await assertRefused(await handle(new Request(URL + path)));
  }
  assert.deepEqual(routes, ["undefined", "/a"]);
});

test(`${RUNTIME}: toNodeListener closes the connection, after earlier answers`, async (t) => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const listener = toNodeListener(toHandler(service, onError), { onError });
  const port = await listenOn(t, createServer(listener));
  const url = `http://127.0.0.1:${port}/`;
  assert.equal(await (await fetch(url)).text(), "whole");
  await assert.rejects(fetch(`${url}none`, { method: "POST" }));
  assert.equal(await (await fetch(url)).text(), "whole");
  assert.deepEqual(errors, []);
});

const closes = RUNTIME === "node";
const title = closes
  ? "closes the connection"
  : "answers 500, and its onError has the reason";
test(`${RUNTIME}: serve ${title}`, async (t) => {
  const errors: unknown[] = [];
  const serve = await loadServe();
  const { url, close } = await serve(toHandler(service), {
    port: 0,
    onError: (error) => void errors.push(error),
  });
  atEnd(t, close);
  const ask = () => fetch(`${url}/none`, { method: "POST" });
  if (closes) {
    await assert.rejects(ask);
    assert.deepEqual(errors, []);
  } else {
    const response = await ask();
    await assertRefused(response);
    assert.match(String(errors), REASON);
  }
});

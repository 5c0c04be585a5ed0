import assert from "node:assert/strict";
import { test } from "node:test";
import { createApp } from "../../../adapters/standalone/app.ts";
import type { RequestLine } from "../../../adapters/standalone/log.ts";
import { Metrics } from "../../../adapters/standalone/metrics.ts";
import { createRateLimiter } from "../../../adapters/standalone/rate_limit.ts";
import { toHandler } from "../../../core/http/fetch_handler.ts";
import { memoryStorage, type PetStorage } from "../../../mod.ts";

function open(storage: PetStorage = memoryStorage()) {
  const lines: RequestLine[] = [];
  const faults: object[] = [];
  const { answer, drain } = createApp({
    storage,
    keys: { verify: (key) => key === "secret" && { id: 3 } },
    metrics: new Metrics(),
    limitAddress: createRateLimiter("address", { requests: 1, seconds: 60 }),
    log: {
      request: (line) => void lines.push(line),
      fault: (cause, of) => void faults.push({ cause, ...of }),
    },
  });
  const handle = toHandler(answer);
  return { handle, drain, lines, faults };
}

function get(path: string, headers: Record<string, string> = {}): Request {
  return new Request(`http://localhost${path}`, {
    headers: { authorization: "Bearer secret", ...headers },
  });
}

test("the app makes an id if X-Request-Id is missing, or not 1 to 128 characters", async () => {
  const { handle } = open();
  const wrong = ["", "two words", "a\tb", "<script>", "x".repeat(129), "ä"];
  const sent = [{}, ...wrong.map((id) => ({ "x-request-id": id }))];
  for (const [i, fields] of sent.entries()) {
    const { headers } = await handle(get("/v1/pets", fields));
    const own = headers.get("x-request-id") ?? "";
    assert.match(own, RegExp(`^[0-9a-f]{20}-${i + 1}$`));
  }
});

test("the app logs method, route, status, time, id and the key's id, nothing else", async () => {
  const { handle, lines } = open();
  await handle(get("/v1/pets/7?secret=1", { "x-request-id": "r1" }));
  await handle(get("/v1/pets/7/secret", { "x-request-id": "r2" }));
  await handle(get("/v1/pets?limit=1", { "x-request-id": "r3" }));
  for (const id of ["r4", "r5"]) {
    const headers = { authorization: "", "x-request-id": id };
    await handle(get("/v1/pets/7", headers));
  }
  const logged = lines.map(({ ms, ...rest }) => {
    assert.ok(ms >= 0);
    return rest;
  });
  const common = { method: "GET", status: 404, key: undefined };
  assert.deepEqual(logged, [
    { ...common, route: "/v1/pets/{petId}", id: "r1", key: 3 },
    { ...common, route: undefined, id: "r2" },
    { ...common, route: "/v1/pets", status: 200, id: "r3", key: 3 },
    { ...common, route: "/v1/pets/{petId}", status: 401, id: "r4" },
    { ...common, route: "/v1/pets/{petId}", status: 429, id: "r5" },
  ]);
});

test("livez answers 200; readyz too, or 503 and a log line if the storage is gone", async () => {
  const cause = new Error("gone");
  let isBroken = false;
  const { handle, faults } = open({
    ...memoryStorage(),
    ping: () => isBroken ? Promise.reject(cause) : Promise.resolve(),
  });
  for (isBroken of [false, true, true, false]) {
    const live = await handle(get("/livez"));
    assert.deepEqual([live.status, await live.text()], [
      200,
      '{"status":"ok"}',
    ]);
    const ready = await handle(get("/readyz"));
    assert.equal(ready.status, isBroken ? 503 : 200);
    assert.equal(ready.headers.get("retry-after"), isBroken ? "1" : null);
    const { message } = await ready.json();
    const expected = isBroken ? "Cannot reach the storage now" : undefined;
    assert.equal(message, expected);
    const id = ready.headers.get("x-request-id") ?? "";
    const fault = { cause, id, key: undefined };
    assert.deepEqual(faults.splice(0), isBroken ? [fault] : []);
  }
});

test("probes are found by their exact path alone, so that a proxy's rule for it holds", async () => {
  const { handle } = open();
  assert.equal((await handle(get("/livez"))).status, 200);
  for (const path of ["/%6civez", "/ready%7A", "/livez/", "//livez"]) {
    assert.equal((await handle(get(path))).status, 404, path);
  }
});

const cases = [
  [503, "was cut off", undefined],
  [400, "is invalid", '{"name":""}'],
] as const;
for (const [status, what, chunk] of cases) {
  test(`drain waits for a create, which is answered ${status} if its body ${what}`, async () => {
    const { handle, drain, lines } = open();
    const { readable, writable } = new TransformStream<string, string>();
    const body = readable.pipeThrough(new TextEncoderStream());
    const { headers } = get("/v1/pets");
    const init = { method: "POST", headers, body, duplex: "half" };
    const answer = handle(new Request("http://localhost/v1/pets", init));
    let isDrained = false;
    const drained = drain().then(() => isDrained = true);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(isDrained, false);
    const writer = writable.getWriter();
    if (chunk === undefined) await writer.abort("cut");
    else await Promise.all([writer.write(chunk), writer.close()]);
    assert.equal((await answer).status, status);
    assert.deepEqual(lines.map(({ route }) => route), ["/v1/pets"]);
    await drained;
  });
}

test("a draining app answers 503 to requests and readyz, and 200 to livez and metrics", async () => {
  const { handle, drain } = open();
  assert.equal((await handle(get("/readyz"))).status, 200);
  await drain();
  const refused = await handle(get("/v1/pets", { "x-request-id": "late" }));
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("x-request-id"), "late");
  assert.equal(refused.headers.get("connection"), "close");
  assert.equal((await refused.json()).code, "service_unavailable");
  assert.equal((await handle(get("/readyz"))).status, 503);
  for (const path of ["/livez", "/metrics"]) {
    assert.equal((await handle(get(path))).status, 200, path);
  }
});

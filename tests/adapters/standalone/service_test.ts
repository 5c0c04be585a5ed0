import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { PetDatabase } from "../../../adapters/storage/pet_database.ts";
import {
  standardError,
  standardOutput,
} from "../../../adapters/standalone/output.ts";
import { issuedKeys, memoryStorage, StorageError } from "../../../mod.ts";
import { ask, type Question } from "../../contract/ask.ts";
import { assertError } from "../../contract/error_reply.ts";
import { openStandalone } from "../../support/server.ts";
import { turns } from "../../support/time.ts";

/** The members of the lines of a log, without the time. */
function watchLog(
  t: TestContext,
  output: typeof standardOutput,
): readonly Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  t.mock.method(output, "write", async (line: string) => {
    const { time: _, ...members } = JSON.parse(line);
    lines.push(members);
  });
  return lines;
}

/** Opens the service on a storage, and asks it with an issued key, whose id is 1. */
async function open(t: TestContext, storage: PetDatabase = memoryStorage()) {
  const settings = { METRICS: "on", RATE_LIMIT: "2/60s", REQUEST_LOG: "on" };
  const { key } = await issuedKeys(storage.apiKeys).issue("a");
  const service = { ...await openStandalone(t, settings, storage), key };
  return {
    ...service,
    requests: watchLog(t, standardOutput),
    faults: watchLog(t, standardError),
    get: (path: string, headers: Question["headers"] = {}) =>
      ask(service, "GET", path, { headers }),
  };
}

test("the service makes an id if X-Request-Id is missing, or not 1 to 128 characters", async (t) => {
  const { get } = await open(t);
  const wrong = ["", "two words", "a\tb", "<script>", "x".repeat(129), "ä"];
  const sent = [{}, ...wrong.map((id) => ({ "x-request-id": id }))];
  for (const [i, fields] of sent.entries()) {
    const { headers } = await get("/v1/pets", fields);
    const own = headers.get("x-request-id") ?? "";
    assert.match(own, RegExp(`^[0-9a-f]{20}-${i + 1}$`), `${i}`);
  }
});

test("the service logs method, route, status, time, id and the key's id, nothing else", async (t) => {
  const { get, requests } = await open(t);
  await get("/v1/pets/7?secret=1", { "x-request-id": "r1" });
  await get("/v1/pets/7/secret", { "x-request-id": "r2" });
  await get("/v1/pets?limit=1", { "x-request-id": "r3" });
  for (const id of ["r4", "r5", "r6"]) {
    await get("/v1/pets/7", { authorization: "", "x-request-id": id });
  }
  const logged = requests.map(({ ms, ...rest }) => {
    assert.ok(Number(ms) >= 0);
    return rest;
  });
  const common = { method: "GET", status: 404 };
  assert.deepEqual(logged, [
    { ...common, route: "/v1/pets/{petId}", id: "r1", key: 1 },
    { ...common, route: null, id: "r2" },
    { ...common, route: "/v1/pets", status: 200, id: "r3", key: 1 },
    { ...common, route: "/v1/pets/{petId}", status: 401, id: "r4" },
    { ...common, route: "/v1/pets/{petId}", status: 401, id: "r5" },
    { ...common, route: "/v1/pets/{petId}", status: 429, id: "r6" },
  ]);
});

test("livez answers 200; readyz too, or 503 and a log line if the storage is gone", async (t) => {
  let isBroken = false;
  const gone = () => Promise.reject(new StorageError("unavailable", "Gone"));
  const { get, faults } = await open(t, {
    ...memoryStorage(),
    ping: () => isBroken ? gone() : Promise.resolve(),
  });
  for (isBroken of [false, true, true, false]) {
    const row = `the storage is gone: ${isBroken}`;
    const live = await get("/livez");
    assert.deepEqual([live.status, live.text], [200, '{"status":"ok"}'], row);
    const { status, headers, text } = await get("/readyz");
    assert.equal(status, isBroken ? 503 : 200, row);
    assert.equal(headers.get("retry-after"), isBroken ? "1" : null, row);
    if (!isBroken) continue;
    assert.equal(JSON.parse(text).message, "Cannot reach the storage now");
    const id = headers.get("x-request-id") ?? "";
    assert.deepEqual(faults.at(-1), { id, error: "Gone (unavailable)" });
  }
  assert.equal(faults.length, 2);
});

test("probes are found by their exact path alone, so that a proxy's rule for it holds", async (t) => {
  const { get } = await open(t);
  assert.equal((await get("/livez")).status, 200);
  for (const path of ["/%6civez", "/ready%7A", "/livez/", "//livez"]) {
    assert.equal((await get(path)).status, 404, path);
  }
});

const cases = [
  [503, "was cut off", undefined],
  [400, "is invalid", '{"name":""}'],
] as const;
for (const [status, what, chunk] of cases) {
  test(`drain waits for a create, which is answered ${status} if its body ${what}`, async (t) => {
    const { drain, requests, ...service } = await open(t);
    const { readable, writable } = new TransformStream<string, string>();
    const body = readable.pipeThrough(new TextEncoderStream());
    const answer = ask(service, "POST", "/v1/pets", { body });
    let isDrained = false;
    const drained = drain().then(() => isDrained = true);
    // Nothing tells that it goes on waiting: on a slow machine this only sees less.
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(isDrained, false);
    const writer = writable.getWriter();
    if (chunk === undefined) await writer.abort("cut");
    else await Promise.all([writer.write(chunk), writer.close()]);
    assert.equal((await answer).status, status);
    assert.deepEqual(requests.map(({ route }) => route), ["/v1/pets"]);
    await drained;
  });
}

test("a draining service refuses requests and readyz, and answers livez and metrics", async (t) => {
  const { get, drain } = await open(t);
  assert.equal((await get("/readyz")).status, 200);
  await drain();
  const refused = await get("/v1/pets", { "x-request-id": "late" });
  assert.equal(refused.headers.get("x-request-id"), "late");
  assert.equal(refused.headers.get("connection"), "close");
  assert.equal(refused.headers.get("retry-after"), "1");
  const message =
    "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again";
  assert.equal(assertError(refused, "service_unavailable"), message);
  assert.equal((await get("/readyz")).status, 503);
  for (const path of ["/livez", "/metrics"]) {
    assert.equal((await get(path)).status, 200, path);
  }
});

for (const isClosed of [false, true]) {
  const what = isClosed ? "that is closed does not log" : "logs";
  test(`a server ${what} that it cannot record the use of a key`, async (t) => {
    const begun = Promise.withResolvers<void>();
    const failing = Promise.withResolvers<void>();
    const storage = memoryStorage();
    const markAllUsed = () => {
      begun.resolve();
      return failing.promise;
    };
    const apiKeys = { ...storage.apiKeys, markAllUsed };
    const { get, close, faults, issuedKeys } = await open(t, {
      ...storage,
      apiKeys,
    });
    assert.equal((await get("/v1/pets")).status, 200);
    const ending = isClosed ? close() : issuedKeys.flush();
    await begun.promise;
    if (isClosed) await ending; // after a second, although the write hangs
    failing.reject(new StorageError("unavailable", "full"));
    await turns();
    assert.equal(faults.length, isClosed ? 0 : 1);
  });
}

test("a server that ends records which keys were used, before its storage is closed", async (t) => {
  const storage = memoryStorage();
  const noted: unknown[] = [];
  const apiKeys = {
    ...storage.apiKeys,
    async markAllUsed(ids: readonly number[]) {
      noted.push(ids);
    },
  };
  const closeStorage = async () => void noted.push("closed");
  const opened = { ...storage, apiKeys, close: closeStorage };
  const { get, close } = await open(t, opened);
  assert.equal((await get("/v1/pets")).status, 200);
  await close();
  assert.deepEqual(noted, [[1], "closed"]);
});

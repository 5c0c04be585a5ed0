/** Worlds: a key each, on one sandbox. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";
import { sandbox, type SandboxOptions } from "../../../adapters/sandbox/mod.ts";
import { createWorlds } from "../../../adapters/sandbox/worlds.ts";
import { ask, type Question } from "../../contract/ask.ts";
import { REX_JSON } from "../../support/pets.ts";
import { findRuntimes, testUnless } from "../../support/runtime.ts";
import { startSandbox } from "./sandbox_program.ts";
import { atEnd } from "../../support/at_end.ts";
import { until } from "../../support/time.ts";

/** Makes a sandbox in process, and functions that ask it with a key. */
function open(options?: SandboxOptions) {
  const { handle: fetch } = sandbox({ worlds: true, pets: 2, ...options });
  const service = { fetch, base: "http://localhost/v1" };
  const create = (key: string, sent: Question = {}) =>
    ask({ ...service, key }, "POST", "/pets", { body: REX_JSON, ...sent });
  const list = (key: string) => ask({ ...service, key }, "GET", "/pets");
  return { create, list };
}

const idOf = ({ text }: { readonly text: string }) =>
  /"id":(\d+)/.exec(text)?.[1];

test("each key test-… has its own pets, ids and idempotency keys", async () => {
  const { create, list } = open();
  const headers = { "idempotency-key": "1" };
  const ids = [];
  for (const key of ["test-a", "test-b", "test", "test-a", "test-b"]) {
    ids.push(idOf(await create(key, { headers })));
  }
  assert.deepEqual(ids, ["3", "3", "3", "3", "3"]);
  assert.equal(idOf(await create("test-b")), "4");
  const counts = [];
  for (const key of ["test-a", "test-b", "test", "test-c"]) {
    counts.push(JSON.parse((await list(key)).text).length);
  }
  assert.deepEqual(counts, [3, 4, 3, 2]);
});

test("a key that is no test-… of at most 64 characters is refused, as without worlds", async () => {
  const { list } = open();
  const long = `test-${"x".repeat(59)}`;
  assert.equal((await list(long)).status, 200);
  for (const key of [`${long}x`, "Test-a", "atest-", "test_a"]) {
    assert.equal((await list(key)).status, 401, key);
  }
  const single = open({ worlds: false });
  assert.equal((await single.list("test-a")).status, 401);
  const named = open({ key: ["test-a", "test-b"] });
  await named.create("test-a");
  assert.equal(idOf(await named.create("test-b")), "4");
});

test("a world may have any number of keys", () => {
  const worlds = createWorlds({ worlds: true });
  const store = worlds.find("Bearer test-a");
  assert.ok("journal" in store);
  const keys = Array.from({ length: 200_000 }, (_, i) => `test-${i}`);
  assert.equal(worlds.setKeys(store, keys), undefined);
  for (const key of ["test-a", "test-199999"]) {
    assert.equal(worlds.find(`Bearer ${key}`), store, key);
  }
});

test("a key that a world gave up stays with the world that it begins", () => {
  const worlds = createWorlds({ worlds: true });
  const first = worlds.find("Bearer test-a");
  assert.ok("journal" in first);
  worlds.setKeys(first, ["test-b"]);
  worlds.setKeys(first, []);
  const second = worlds.find("Bearer test-b");
  assert.notEqual(second, first);
  worlds.setKeys(first, []);
  assert.equal(worlds.find("Bearer test-b"), second);
});

test("maxPets holds for all worlds together, and names DELETE if none can begin", async () => {
  const { create, list } = open({ maxPets: 5 });
  assert.equal((await create("test-a")).status, 201);
  const refused = await create("test-a");
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [
    503,
    "1",
  ]);
  const { status, text } = await list("test-b");
  assert.equal(status, 503);
  assert.match(text, /more than --max-pets pets.*DELETE \/sandbox/);
  assert.equal((await list("test-a")).status, 200);
});

test("beyond 1,000 worlds a request is a 503 that names DELETE, and none is dropped", async () => {
  const { create, list } = open({ pets: 1 });
  for (let i = 0; i < 1000; i++) await create(`test-${i}`);
  const { status, text, headers } = await create("test-more");
  assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
  assert.match(text, /there are 1000\. Let each .* DELETE \/sandbox/);
  for (const i of [0, 1, 500, 999]) {
    assert.equal(JSON.parse((await list(`test-${i}`)).text).length, 2, `${i}`);
  }
});

test("journals of all worlds have at most 64 MiB: the longest lose their oldest", () => {
  const worlds = createWorlds({ worlds: true });
  const stores = Array.from({ length: 8 }, (_, i) => {
    const store = worlds.find(`Bearer test-${i}`);
    return "journal" in store ? store.journal : assert.fail();
  });
  const target = "x".repeat(1024 * 1024);
  const begin = (journal: typeof stores[number], target: string) =>
    journal.begin({ method: "GET", target, headers: {} });
  for (const journal of stores.slice(1)) {
    for (let i = 0; i < 12; i++) begin(journal, target);
  }
  for (let i = 0; i < 3; i++) begin(stores[0] ?? assert.fail(), `/${i}`);
  const sizes = stores.map(({ size }) => size);
  assert.equal(sizes[0], 3);
  const sum = sizes.reduce((sum, size) => sum + size, -3);
  assert.ok(sum === 63 || sum === 64, `${sizes}`);
});

/** The memory of a process, in MB (proc(5), VmRSS). */
function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000;
}

/** Drives the control address of a world; returns the status, and the JSON if there is any. */
async function driver(...started: Parameters<typeof startSandbox>) {
  const sandbox = await startSandbox(...started);
  async function drive(key: string, line: string, body?: unknown) {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(sandbox.control + path, {
      method,
      headers: {
        ...key && { authorization: `Bearer ${key}` },
        "content-type": "application/json",
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    const text = await response.text();
    return { status: response.status, json: text && JSON.parse(text) };
  }
  return { ...sandbox, drive };
}

test("the control address with a key is that of its world", async (t) => {
  const { drive, send, program } = await driver(
    "--worlds --pets 2 --quiet --log",
  );
  atEnd(t, () => program.end("SIGKILL"));
  const [own, other] = ["test-a", "test-b"];
  const fault = { answer: { status: 500 }, times: 2 };
  assert.equal((await drive(own, "POST /faults", fault)).status, 204);
  const list = (key: string) => send("GET /v1/pets", undefined, key);
  assert.match(await list(other), /^HTTP\/1.1 200 /);
  assert.match(await list("test"), /^HTTP\/1.1 200 /);
  assert.match(await list(own), /^HTTP\/1.1 500 /);
  const state = (pets: number, requests: number) => ({ pets, requests });
  const left = { ...fault, times: 1 };
  const ofOwn = { ...state(2, 1), faults: [left] };
  assert.deepEqual((await drive(own, "GET ")).json, ofOwn);
  const ofFirst = { ...state(2, 1), faults: [], worlds: 2 };
  assert.deepEqual((await drive("", "GET ")).json, ofFirst);
  assert.deepEqual((await drive("test", "GET ")).json, ofFirst);
  await drive(own, "PUT /pets", 7);
  await drive(other, "POST /reset");
  assert.equal((await drive(own, "GET /pets")).json.length, 7);
  for (const key of ["tset", "test_a", `test-${"x".repeat(60)}`]) {
    assert.equal((await drive(key, "GET /requests")).status, 401, key);
  }
  // A second key, and the end of a world.
  assert.equal((await drive(own, "PUT /keys", ["test-a2"])).status, 204);
  assert.equal((await drive("test-a2", "GET /pets")).json.length, 7);
  const taken = await drive(own, "PUT /keys", [other]);
  assert.deepEqual([taken.status, taken.json.code], [409, "conflict"]);
  assert.match(taken.json.message, /test-b: it has a world of its own$/);
  for (const wrong of [["test"], "test-c", [1], { a: "test-c" }, ["x"]]) {
    assert.equal(
      (await drive(own, "PUT /keys", wrong)).status,
      400,
      JSON.stringify(wrong),
    );
  }
  assert.equal((await drive("test-a2", "GET /pets")).json.length, 7);
  assert.equal((await drive("test-a2", "DELETE ")).status, 204);
  assert.equal((await drive(own, "DELETE ")).status, 204); // again
  assert.equal((await drive("", "GET ")).json.worlds, 1);
  assert.equal((await drive(own, "GET /pets")).json.length, 2);
  for (const key of ["", "test"]) {
    assert.equal((await drive(key, "DELETE ")).status, 400, key);
  }
  await send("POST /v1/pets", REX_JSON, own);
  const lines = () => program.stderr().trim().split("\n");
  await until("the log has all lines", () => lines().length >= 4);
  assert.equal(lines().at(-1), "test-a  POST /v1/pets  201, pet 3 added");
  assert.equal(lines().length, 4);
});

for (const runtime of findRuntimes()) {
  const { name, missing } = runtime;
  testUnless(missing ?? (existsSync("/proc/self") ? false : "no /proc"))(
    `${name}: 1,000 worlds of 50 pets take less than 100 MB`,
    async (t) => {
      const args = "--worlds --pets 50 --quiet";
      const { program, url } = await startSandbox(args, runtime);
      atEnd(t, () => program.end("SIGKILL"));
      const before = memoryOf(program.pid);
      for (let i = 0; i < 1000; i++) {
        const headers = { authorization: `Bearer test-${i}` };
        const response = await fetch(`${url}/pets?limit=100`, { headers });
        assert.equal((await response.json()).length, 50);
      }
      const taken = memoryOf(program.pid) - before;
      assert.ok(taken < 100, `${taken} MB`);
    },
  );
}

test("without --worlds a key at the control address is ignored, and keys are refused", async (t) => {
  const { drive, program } = await driver("--pets 2 --quiet");
  atEnd(t, () => program.end("SIGKILL"));
  const { json } = await drive("test-a", "GET ");
  assert.deepEqual(json, { pets: 2, faults: [], requests: 0 });
  const refused = await drive("", "PUT /keys", ["test-a"]);
  assert.match(refused.json.message, /^Cannot set keys: with --worlds, send /);
});

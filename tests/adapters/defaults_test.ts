/** Each number that a comment names as the default of an option is what the code does, by a clock of the test's. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { createClient } from "../../adapters/client/mod.ts";
import { d1Storage } from "../../adapters/storage/d1/mod.ts";
import { grouped } from "../../adapters/storage/grouped.ts";
import { clientsOf } from "../../adapters/storage/postgres/client.ts";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { readServeOptions } from "../../adapters/http/server.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/mod.ts";
import { sandbox } from "../../adapters/sandbox/mod.ts";
import { createRateLimiter } from "../../adapters/standalone/rate_limit.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { memoryStorage } from "../../mod.ts";
import { type Answer, ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { runSql } from "../support/postgres/sql.ts";
import { readText, ROOT } from "../support/repository.ts";
import { temporaryFiles } from "../support/temporary_directory.ts";
import { imitation } from "./storage/d1/imitation.ts";
import { key, REX } from "../support/pets.ts";
import { stopClock, turns } from "../support/time.ts";
import { testUnless } from "../support/runtime.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const newPath = temporaryFiles();

/** Tells whether a limit is reached at `n`: in ms, bytes or what it counts. */
type IsReached = (n: number, t: TestContext) => Promise<boolean>;

/** By the file and name of an option. */
const MEASURES: Readonly<Record<string, IsReached>> = {
  "core/handler_options.ts maxBodyBytes": async (n) =>
    (await post(new Uint8Array(n + 1))).status === 413,
  "core/handler_options.ts bodyTimeout": async (n, t) =>
    await endsWithin(n, t, () => post(new ReadableStream())),
  "adapters/client/options.ts timeout": (n, t) =>
    endsWithin(n, t, () => listPets(() => new Promise(() => {}))),
  async "adapters/client/options.ts retries"(n, t) {
    let calls = 0;
    await endsWithin(Infinity, t, () =>
      listPets(async () => {
        calls++;
        return new Response(null, { status: 503 });
      }));
    return calls <= n + 1;
  },
  "adapters/storage/memory/mod.ts idempotencyRetention": (n, t) =>
    isForgotten(n, t, performance, memoryStorage()),
  "adapters/storage/sqlite/mod.ts idempotencyRetention": async (n, t) =>
    await isForgotten(n, t, Date, await sqliteStorage(newPath())),
  "adapters/storage/d1/mod.ts idempotencyRetention": (n, t) =>
    isForgotten(n, t, Date, d1Storage(imitation())),
  async "adapters/storage/sqlite/mod.ts lockTimeout"(n, t) {
    const path = newPath();
    const other = new DatabaseSync(path);
    other.exec("BEGIN EXCLUSIVE");
    try {
      return await givesUpAt(n, t, () => sqliteStorage(path));
    } finally {
      other.close();
    }
  },
  "adapters/storage/postgres/open.ts connectTimeout": async (n, t) =>
    await endsWithin(n, t, openNowhere),
  async "adapters/storage/postgres/open.ts queryTimeout"(n, t) {
    const driver = Object.getPrototypeOf(clientsOf(() => ({}))).prototype;
    const mocks = [
      t.mock.method(driver, "connect", (callback: () => void) => callback()),
      t.mock.method(driver, "query", () => {}),
    ];
    const isReached = await endsWithin(n, t, openNowhere);
    for (const { mock } of mocks) mock.restore();
    return isReached;
  },
  "adapters/storage/postgres/open.ts openTimeout": (n, t) =>
    givesUpAt(n, t, () => postgresStorage("postgres://a@127.0.0.1:1/pets")),
  async "adapters/storage/postgres/open.ts idempotencyRetention"(n) {
    // In minutes, because the clock is the database's and goes on.
    const url = await emptyDatabase();
    const storage = await postgresStorage(url);
    await storage.create(REX, key(0));
    const age = Math.floor(n / 60_000) * 60_000;
    await runSql(url, `update idempotency_keys set created = created - ${age}`);
    const { replayed } = await storage.create(REX, key(0));
    await storage.close();
    return replayed === undefined;
  },
  "adapters/standalone/rate_limit.ts maxCallers": async (n) => {
    const limit = { requests: 1, seconds: 1 };
    const limiter = createRateLimiter("key", limit, { now: () => 0 });
    for (let caller = 0; caller <= n; caller++) limiter(`${caller}`);
    return limiter("0").allowed; // it was forgotten
  },
  "adapters/sandbox/store.ts maxPets": async (n) =>
    await (async () => sandbox({ pets: n + 1 }))().then(
      () => false,
      () => true,
    ),
  "adapters/http/server.ts port": async (n) => readServeOptions({}).port <= n,
  async "adapters/storage/grouped.ts maxQueue"(n, t) {
    const { run } = hanging(t);
    run(0);
    await turns();
    for (let waiting = 0; waiting < n; waiting++) run(waiting);
    const isRefused = run(n);
    await turns();
    return isRefused();
  },
  async "adapters/storage/grouped.ts maxWait"(n, t) {
    const { run, pass } = hanging(t);
    run(0);
    await turns();
    const isRefused = run(1);
    await pass(n + 1); // in ticks of 20 ms
    return isRefused();
  },
  async "adapters/storage/grouped.ts maxUnderWay"(n, t) {
    const { run, pass, sent } = hanging(t);
    for (let item = 0; item < 9; item++) run(item);
    await pass(1000); // those under way may hang
    return sent.length <= n;
  },
  async "adapters/storage/grouped.ts sizeOf"(n, t) {
    const { run, sent } = hanging(t, 9 * n);
    for (let item = 0; item < 9; item++) run(item);
    await turns();
    return sent[0] === 9;
  },
};

/** The tests that measure what one runtime alone does. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "adapters/http/node/mod.ts headersTimeout": "node/serve_test.ts",
  "adapters/http/node/mod.ts requestTimeout": "node/serve_test.ts",
  "adapters/http/node/mod.ts keepAliveTimeout": "node/serve_test.ts",
  "adapters/http/bun/mod.ts maxRequestBodySize": "standalone/serve_test.ts",
};

/** An option whose comment names a number as its default. */
const IN_COMMENTS =
  /Default:\s+(?:\* )?(\d[\d,]*)(?:(?!\*\/)[^])*\*\/\s+readonly (\w+)\?:/g;

/** The documented defaults, by option. */
const DOCUMENTED = new Map<string, number>();
function note(option: string, number = ""): void {
  DOCUMENTED.set(option, Number(number.replaceAll(",", "")));
}

for (const path of globSync("{core,adapters}/**/*.ts", { cwd: ROOT })) {
  for (const [, number, option] of readText(path).matchAll(IN_COMMENTS)) {
    note(`${path} ${option}`, number);
  }
}
const [, callers] =
  /Up to ([\d,]+) callers/.exec(readText("docs/operating.md")) ??
    [];
note("adapters/standalone/rate_limit.ts maxCallers", callers);

test("every documented default is measured", () => {
  assert.deepEqual(
    Object.keys({ ...MEASURES, ...ELSEWHERE }).sort(),
    [...DOCUMENTED.keys()].sort(),
  );
});

for (const [option, isReached] of Object.entries(MEASURES)) {
  const number = DOCUMENTED.get(option) ?? NaN;
  const needsPostgres = /postgres.*idempotencyRetention/.test(option);
  const it = testUnless(needsPostgres && skip);
  it(`${option} is ${number} by default`, async (t) => {
    assert.equal(await isReached(number - 1, t), false, `${number - 1}`);
    assert.equal(await isReached(number, t), true, `${number}`);
  });
}

function post(body: Uint8Array | ReadableStream): Promise<Answer> {
  return ask(handleService(), "POST", "/pets", { body });
}

function listPets(
  fetch: () => Promise<Response>,
): Promise<unknown> {
  return createClient({ baseUrl: "http://a/v1", key: "k", fetch }).listPets();
}

/** Tells whether a call ends if timers of up to `ms` end, and no longer ones. */
async function endsWithin(
  ms: number,
  t: TestContext,
  call: () => Promise<unknown>,
): Promise<boolean> {
  const { setTimeout } = globalThis;
  const restore = () => void Object.assign(globalThis, { setTimeout });
  t.after(restore);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  Object.assign(globalThis, {
    setTimeout(then: () => void, delay: number) {
      if (delay > ms) resolve(false);
      return setTimeout(delay > ms ? () => {} : then, 0);
    },
  });
  call().then(() => resolve(true), () => resolve(true));
  return await promise.finally(restore);
}

/** Tells whether a call that is tried again and again gives up after so many ms, by `performance.now`. */
async function givesUpAt(
  ms: number,
  t: TestContext,
  call: () => Promise<unknown>,
): Promise<boolean> {
  const times = [0, ms];
  const clock = t.mock.method(performance, "now", () => times.shift() ?? 1e12);
  await assert.rejects(call, Error, "it did not give up");
  clock.mock.restore();
  return clock.mock.callCount() === 2;
}

/** Tells whether an idempotency key is forgotten after so many ms. */
async function isForgotten(
  ms: number,
  t: TestContext,
  clock: { now(): number },
  storage: PetStorage,
): Promise<boolean> {
  let time = 1e9;
  const { mock } = t.mock.method(clock, "now", () => time);
  await storage.create(REX, key(0));
  time += ms;
  const { replayed } = await storage.create(REX, key(0));
  mock.restore();
  await storage.close();
  return replayed === undefined;
}

/** A queue whose groups are never answered, on a stopped clock, and the sizes of those that were sent. */
function hanging(t: TestContext, maxGroup = 1) {
  const { pass } = stopClock(t);
  const sent: number[] = [];
  const { run } = grouped<number, void>({
    action: "wait",
    maxGroup,
    send(group) {
      sent.push(group.length);
      return new Promise(() => {});
    },
  });
  return {
    pass,
    sent,
    /** Returns what tells whether the item has been refused. */
    run(item: number): () => boolean {
      let isRefused = false;
      run(item).catch(() => isRefused = true);
      return () => isRefused;
    },
  };
}

async function openNowhere(): Promise<void> {
  await postgresStorage("postgres://a@127.0.0.1:1/pets", { openTimeout: 0 });
}

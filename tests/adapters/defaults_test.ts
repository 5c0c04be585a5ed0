/** Each number that a comment names as the default of an option is what the code does, by a clock of the test's. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { readOptions } from "../../adapters/client/options.ts";
import { d1Storage } from "../../adapters/storage/d1/mod.ts";
import type { PetDatabase } from "../../adapters/storage/pet_database.ts";
import { Connection } from "../../adapters/storage/postgres/client.ts";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { readServeOptions } from "../../adapters/http/server.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/mod.ts";
import { sandbox } from "../../adapters/sandbox/mod.ts";
import { createRateLimit } from "../../adapters/layers/rate_limit.ts";
import { memoryStorage } from "../../mod.ts";
import { type Answer, ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { readText, ROOT } from "../support/repository.ts";
import { temporaryFiles } from "../support/temporary_directory.ts";
import { imitation } from "./storage/d1/imitation.ts";
import { testUnless } from "../support/runtime.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const newPath = temporaryFiles();

/** Tells whether a limit is reached at `n`: in ms, bytes or what it counts. */
type IsReached = (n: number, t: TestContext) => Promise<boolean>;

const { timeout, retries, setTimer } = readOptions({
  baseUrl: "http://a",
  key: "k",
});

/** By the file and name of an option. */
const MEASURES: Readonly<Record<string, IsReached>> = {
  "adapters/handler_options.ts maxBodyBytes": async (n) =>
    (await post(new Uint8Array(n + 1))).status === 413,
  "adapters/handler_options.ts bodyTimeout": async (n, t) =>
    await endsWithin(n, t, () => post(new ReadableStream())),
  "adapters/client/options.ts timeout": (n, t) =>
    endsWithin(
      n,
      t,
      () => new Promise<void>((resolve) => setTimer(timeout, resolve)),
    ),
  "adapters/client/options.ts retries": async (n) => retries <= n,
  "adapters/storage/memory/mod.ts idempotencyRetention": (n) =>
    keepsFor(n, memoryStorage()),
  "adapters/storage/sqlite/mod.ts idempotencyRetention": (n) =>
    keepsFor(n, sqliteStorage(newPath())),
  "adapters/storage/d1/mod.ts idempotencyRetention": (n) =>
    keepsFor(n, d1Storage(imitation())),
  "adapters/storage/postgres/open.ts idempotencyRetention": async (n) =>
    await keepsFor(n, postgresStorage(await emptyDatabase())),
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
    const driver = Object.getPrototypeOf(Connection).prototype;
    const mocks = [
      t.mock.method(driver, "connect", () => Promise.resolve()),
      t.mock.method(driver, "query", () => {}),
    ];
    const isReached = await endsWithin(n, t, openNowhere);
    for (const { mock } of mocks) mock.restore();
    return isReached;
  },
  async "adapters/storage/postgres/open.ts openTimeout"(n, t) {
    const driver = Object.getPrototypeOf(Connection).prototype;
    const connect = t.mock.method(driver, "connect");
    const attempts = () => connect.mock.callCount();
    const times = [0, n]; // before the first attempt, and after it
    const now = () => times[attempts()] ?? 1e12;
    const clock = t.mock.method(performance, "now", now);
    await assert.rejects(
      postgresStorage("postgres://a@127.0.0.1:1/pets"),
      Error,
      "it did not give up",
    );
    connect.mock.restore();
    clock.mock.restore();
    return attempts() === 1;
  },
  "adapters/layers/rate_limit.ts maxCallers": async (n) => {
    const { byKey } = createRateLimit({ requests: 1, seconds: 3600 });
    for (let caller = 0; caller <= n; caller++) byKey(`${caller}`);
    return byKey("0").allowed; // it was forgotten
  },
  "adapters/sandbox/worlds.ts maxPets": async (n) =>
    await (async () => sandbox({ pets: n + 1 }))().then(
      () => false,
      () => true,
    ),
  "adapters/http/server.ts port": async (n) => readServeOptions({}).port <= n,
};

/** What http/node/serve_test.ts, http/fetch_server_test.ts and storage/grouped_test.ts measure. */
const ELSEWHERE: Readonly<Record<string, number>> = {
  "adapters/http/node/mod.ts headersTimeout": 10_000,
  "adapters/http/node/mod.ts requestTimeout": 30_000,
  "adapters/http/node/mod.ts keepAliveTimeout": 5000,
  "adapters/http/bun/mod.ts maxRequestBodySize": 1_048_576,
  "adapters/storage/grouped.ts maxUnderWay": 1,
  "adapters/storage/grouped.ts sizeOf": 1,
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
note("adapters/layers/rate_limit.ts maxCallers", callers);

test("every documented default is measured", () => {
  assert.deepEqual(
    Object.keys({ ...MEASURES, ...ELSEWHERE }).sort(),
    [...DOCUMENTED.keys()].sort(),
  );
  for (const [option, number] of Object.entries(ELSEWHERE)) {
    assert.equal(DOCUMENTED.get(option), number, option);
  }
});

for (const [option, isReached] of Object.entries(MEASURES)) {
  const number = DOCUMENTED.get(option) ?? NaN;
  const needsPostgres = /postgres.*idempotencyRetention/.test(option);
  const withDatabase = { test: testUnless(needsPostgres && skip) };
  withDatabase.test(`${option} is ${number} by default`, async (t) => {
    assert.equal(await isReached(number - 1, t), false, `${number - 1}`);
    assert.equal(await isReached(number, t), true, `${number}`);
  });
}

function post(body: Uint8Array | ReadableStream): Promise<Answer> {
  return ask(handleService(), "POST", "/pets", { body });
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

/** Tells whether a storage keeps idempotency keys for so many ms at most. */
async function keepsFor(
  ms: number,
  opening: PetDatabase | Promise<PetDatabase>,
): Promise<boolean> {
  const storage = await opening;
  await storage.close();
  return Number(storage.idempotencyRetention) <= ms;
}

async function openNowhere(): Promise<void> {
  await postgresStorage("postgres://a@127.0.0.1:1/pets", { openTimeout: 0 });
}

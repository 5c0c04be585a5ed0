/** `/metrics` for Prometheus, also checked by its own tool. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { createMetrics } from "../../../adapters/layers/metrics.ts";
import { storageMetrics } from "../../../adapters/standalone/storage_metrics.ts";
import { shuttingDown } from "../../../core/errors.ts";
import type { Service } from "../../../core/answer.ts";
import { toHandler } from "../../../core/handler.ts";
import { createHandler } from "../../../adapters/handler.ts";
import {
  apiKeys,
  memoryStorage,
  type PetStorage,
  StorageError,
} from "../../../mod.ts";
import { missing, RUNTIME, testUnless } from "../../support/runtime.ts";
import { ask } from "../../contract/ask.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { openStandalone } from "../../support/server.ts";
import { until } from "../../support/time.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { REX_JSON } from "../../support/pets.ts";

const skip = missing("promtool", "Debian's package prometheus has it");

const { onDatabase } = await sharedPostgres();

/** Sends requests through the layer of the metrics. */
function watched({ layer }: ReturnType<typeof createMetrics>, answer: Service) {
  const fetch = toHandler(layer(answer));
  return { fetch, base: "http://localhost", key: "secret" };
}

test("/metrics counts requests by routes and methods that exist, and by status", async (t) => {
  const service = await openStandalone(t, { METRICS: "on" });
  await ask(service, "POST", "/v1/pets", { body: REX_JSON });
  await ask(service, "GET", "/v1/pets/7");
  await ask(service, "GET", "/v1/pets/8");
  const unknown = new Request(`${service.base}/no/such/path`);
  // Bun turns an unknown method into a GET.
  Object.defineProperty(unknown, "method", { value: "MADEUP" });
  await service.handle(unknown);
  const { status, headers, text } = await ask(service, "GET", "/metrics");
  const type = "text/plain; version=0.0.4; charset=utf-8";
  assert.deepEqual([status, headers.get("content-type")], [200, type]);
  assert.deepEqual(text.match(/(?<=_count\{).*/g), [
    'http_route="/v1/pets",http_request_method="POST",http_response_status_code="201"} 1',
    'http_route="/v1/pets/{petId}",http_request_method="GET",http_response_status_code="404"} 2',
    'http_route="",http_request_method="_OTHER",http_response_status_code="404"} 1',
  ]);
  assert.deepEqual(valuesOf(text), ["1", "0", "0", "0"]);
  assert.equal((await ask(service, "POST", "/metrics")).status, 405);
  const off = await openStandalone(t);
  assert.equal((await ask(off, "GET", "/metrics")).status, 404);
});

test("/metrics tells the size of SQLite's log, next to the file a link leads to", async (t) => {
  const folder = newFolder(t);
  const file = join(folder, "real.db");
  symlinkSync(file, join(folder, "link.db"));
  const service = await openStandalone(t, {
    DATABASE_URL: `sqlite:${join(folder, "link.db")}`,
    METRICS: "on",
  });
  const size = async () => {
    const { text } = await ask(service, "GET", "/metrics");
    return /^petstore_sqlite_log_bytes (\d+)$/m.exec(text)?.[1];
  };
  const before = statSync(`${file}-wal`).size;
  assert.equal(await size(), `${before}`);
  await ask(service, "POST", "/v1/pets", { body: REX_JSON });
  const after = statSync(`${file}-wal`).size;
  assert.ok(after > before);
  assert.equal(await size(), `${after}`);
});

onDatabase.test(
  "/metrics tells of connections to PostgreSQL, and of the reads that wait",
  async ({ t, url, open, sql, connect }) => {
    // Its reads wait for the lock as long as a busy machine needs: a pooler is told no lock_timeout.
    const patience = { connectTimeout: 60_000, queryTimeout: 60_000 };
    const parameters = "connection_limit=1&pgbouncer=true";
    const storage = await open(`${url}?${parameters}`, patience);
    const settings = { DATABASE_URL: url, METRICS: "on" };
    const service = await openStandalone(t, settings, storage);
    const end = (which: string) =>
      `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and ${which}`;
    /** Waits until it tells of so many connections, statements and reads that wait, and losses. */
    const tells = (expected: string) =>
      until(expected, async () => {
        const { text } = await ask(service, "GET", "/metrics");
        const told = ["postgres_connections", "postgres_waiting"]
          .concat("reads_waiting", "postgres_lost_total")
          .map((name) =>
            RegExp(`^petstore_${name} (.*)$`, "m").exec(text)?.[1]
          );
        return told.join(" ") === expected; // a connection is given back after the answer
      });
    await tells("1 0 0 0");
    const other = await connect();
    await other.query("begin; lock table pets");
    const reads = Promise.all(
      ["/v1/pets/1", "/v1/pets"].map((path) => ask(service, "GET", path)),
    );
    // One has the connection.
    await tells("1 1 2 0");
    await until("the read with the connection is ended", async () => {
      const ended = await sql(end("wait_event_type = 'Lock'"));
      return ended.length > 0;
    });
    // It is read on another one.
    await tells("1 1 2 1");
    await other.query("commit");
    assert.deepEqual((await reads).map(({ status }) => status), [404, 200]);
    await tells("1 0 0 1");
    await other.end();
    await sql(end("pid <> pg_backend_pid()"));
    await tells("0 0 0 2");
    assert.equal((await ask(service, "GET", "/v1/pets")).status, 200);
    await tells("1 0 0 2");
  },
);

test("/metrics tells the memory, processor time, start and version of the process", async () => {
  const read = async (name: string) => {
    const [, value] = RegExp(`^${name} (.*)$`, "m")
      .exec(await text(createMetrics({ version: "1.2.3" }))) ?? [];
    return Number(value);
  };
  const began = await read("process_start_time_seconds");
  const now = Date.now() / 1000;
  assert.ok(began < now && began > now - 3600, `${began}`);
  assert.equal(await read("process_start_time_seconds"), began);

  const memory = await read("process_resident_memory_bytes");
  const { rss } = process.memoryUsage();
  assert.ok(memory > rss / 2 && memory < 2 * rss, `${memory}`);

  const before = process.cpuUsage();
  const used = await read("process_cpu_seconds_total");
  const after = process.cpuUsage();
  assert.ok(used >= (before.user + before.system) / 1e6 - 1e-6, `${used}`);
  assert.ok(used <= (after.user + after.system) / 1e6 + 1e-6, `${used}`);

  const info = {
    version: "1.2.3",
    runtime: RUNTIME,
    runtime_version: process.versions[RUNTIME],
  };
  const labels = Object.entries(info).map(([name, value]) =>
    `${name}="${value}"`
  );
  const build = await read(`petstore_build_info\\{${labels.join()}\\}`);
  assert.equal(build, 1);

  const isShown = RUNTIME !== "deno" && process.platform === "linux";
  const folder = "/proc/self/fd";
  const open = await read("process_open_fds");
  const max = await read("process_max_fds");
  if (isShown) {
    assert.ok(Math.abs(open - readdirSync(folder).length) < 5, `${open}`);
    assert.ok(max >= open, `${max}`);
  } else assert.deepEqual([open, max], [NaN, NaN]);
});

const notFound = { status: 404, headers: {}, body: null };

/** How many requests are active, creates and reads are waiting, and faults there were. */
function valuesOf(text: string) {
  return text.match(/(?<=^(?:http|petstore)_[a-z_]+ )\d+$/gm);
}

/** Asks for `/metrics`. */
async function text(
  { endpoint }: ReturnType<typeof createMetrics>,
): Promise<string> {
  return `${(await endpoint.run({} as never)).body}`;
}

test("/metrics counts a create that waits, its fault, and how long it took", async (t) => {
  const metrics = createMetrics();
  const values = async () => valuesOf(await text(metrics));
  const begun = Promise.withResolvers<void>();
  const { promise, reject } = Promise.withResolvers<never>();
  const create = () => (begun.resolve(), promise);
  const storage = metrics.watch({ ...memoryStorage(), create });
  const keys = apiKeys(["secret"]);
  const handle = createHandler({ storage, keys, onError: () => {} });
  const service = watched(metrics, handle.answer);
  let time = 1000;
  t.mock.method(performance, "now", () => time);
  const answer = ask(service, "POST", "/v1/pets", { body: REX_JSON });
  await begun.promise;
  assert.deepEqual(await values(), ["1", "1", "0", "0"]);
  time += 25;
  reject(new StorageError("unavailable", "gone"));
  assert.equal((await answer).status, 503);
  assert.deepEqual(await values(), ["0", "0", "0", "1"]);
  const durations = await text(metrics);
  assert.match(
    durations,
    /^http_server_request_duration_seconds_sum\{.* 0\.025$/m,
  );
  const buckets = durations.match(/(?<=le=").*/g)?.join().replaceAll('"}', "");
  assert.equal(
    buckets,
    "0.005 0,0.01 0,0.025 1,0.05 1,0.075 1,0.1 1,0.25 1,0.5 1,0.75 1,1 1,2.5 1,5 1,7.5 1,10 1,+Inf 1",
  );
});

test("watch counts a storage of a class, even one that throws", async () => {
  const metrics = createMetrics();
  const values = async () => valuesOf(await text(metrics));
  class Broken {
    #text = "broken";
    create() {
      throw new Error(this.#text);
    }
    get = this.create;
    list = this.create;
    async ping() {
      assert.equal(this.#text, "broken");
    }
    close = this.ping;
  }
  const storage = metrics.watch(new Broken() as never as PetStorage);
  await assert.rejects(storage.create({} as never), /broken/);
  await assert.rejects(storage.list({} as never), /broken/);
  await storage.ping();
  assert.deepEqual(await values(), ["0", "0", "0", "0"]);
});

test("more metrics are written, with a help of one line", async () => {
  const help = "Pets,\nby \\ status.";
  const more = () => [{ name: 'pets{status="sold"}', value: 7, help }];
  const lines = await text(createMetrics({ more }));
  const expected =
    '# HELP pets Pets,\\nby \\\\ status.\n# TYPE pets gauge\npets{status="sold"} 7\n';
  assert.ok(lines.includes(expected), lines);
  assert.doesNotMatch(lines, /petstore_build_info/);
});

testUnless(skip)(
  "promtool accepts /metrics before the first request and after it",
  async () => {
    const pool = () => ({ open: 1, waiting: 0, lost: 0, splitBrains: 0 });
    const metrics = createMetrics({
      version: "1.2.3",
      more: storageMetrics({ kind: "postgres" } as never, pool),
    });
    for (const answer of [shuttingDown, notFound]) {
      const input = await text(metrics);
      const promtool = spawnSync("promtool", ["check", "metrics"], { input });
      assert.equal(
        `${promtool.stdout}${promtool.stderr}`,
        "",
        `${answer.status}`,
      );
      assert.equal(promtool.status, 0, `${answer.status}`);
      await ask(watched(metrics, async () => answer), "GET", "/");
    }
  },
);

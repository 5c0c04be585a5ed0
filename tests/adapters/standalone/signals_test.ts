/** Signals: what is finished, what is refused, and when the program ends. */
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { ask } from "../../contract/ask.ts";
import { Wire } from "../../contract/wire.ts";
import { atEnd } from "../../support/at_end.ts";
import { REX_JSON } from "../../support/pets.ts";
import { freePort, startProgram } from "../../support/process.ts";
import { readText } from "../../support/repository.ts";
import { RUNTIME, testUnless } from "../../support/runtime.ts";
import {
  mainCommand,
  openSlowCreate,
  runMain,
  startMain,
  tellToExit,
  tellToStop,
  untilListening,
} from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { openWire, rawRequest } from "../../support/wire.ts";
import { listenOn } from "../../support/server.ts";
import { until } from "../../support/time.ts";

test("a request that does not finish delays the end by at most SHUTDOWN_TIMEOUT", async (t) => {
  const server = await startMain(t, { env: { SHUTDOWN_TIMEOUT: "1" } });
  await openSlowCreate(t, server);
  assert.equal(await server.end(), 0);
  assert.match(server.stderr(), /did not finish within 1000 ms/);
});

/** Starts a server with an ADMIN_PORT; `admin` is what it has there. */
async function startWithAdmin(t: TestContext, SHUTDOWN_DELAY: string) {
  const env = { METRICS: "on", ADMIN_PORT: "0", SHUTDOWN_DELAY };
  const server = await startMain(t, { env });
  const [, base = ""] = /^The probes and metrics are at (.*)$/m
    .exec(server.stderr()) ?? [];
  return { server, admin: { ...server, base } };
}

test("ADMIN_PORT alone has /metrics, and has nothing else but the probes", async (t) => {
  const { server, admin } = await startWithAdmin(t, "3600");
  const cases = [
    ["/livez", 200, 200],
    ["/readyz", 200, 200],
    ["/metrics", 404, 200],
    ["/v1/pets", 200, 404],
    ["/docs", 200, 404],
  ] as const;
  for (const [path, onPublic, onAdmin] of cases) {
    assert.equal((await ask(server, "GET", path)).status, onPublic, path);
    assert.equal((await ask(admin, "GET", path)).status, onAdmin, path);
  }
  assert.equal((await ask(admin, "POST", "/metrics")).status, 405);
  const { text } = await ask(admin, "GET", "/metrics");
  assert.match(text, /_count\{http_route="\/v1\/pets",/);

  await tellToStop(server);
  for (const one of [server, admin]) {
    assert.equal((await ask(one, "GET", "/readyz")).status, 503, one.origin);
    assert.equal((await ask(one, "GET", "/livez")).status, 200, one.origin);
  }
  assert.equal(await tellToExit(server), 1);
});

test("SIGTERM lets a create finish, ADMIN_PORT answers until then, and the exit is 0", async (t) => {
  const { server, admin } = await startWithAdmin(t, "0");
  const slow = await openSlowCreate(t, server);
  await tellToStop(server);
  assert.equal((await ask(admin, "GET", "/metrics")).status, 200);
  assert.match(await slow.finish(), /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);
});

test("SHUTDOWN_DELAY after SIGTERM refuses /readyz only, and then ends in order", async (t) => {
  // Longer each time, because a machine may be so slow that it asks too late.
  for (const delay of [2, 8, 32]) {
    const env = { SHUTDOWN_DELAY: `${delay}` };
    const server = await startMain(t, { env });
    assert.equal((await ask(server, "GET", "/readyz")).status, 200, `${delay}`);
    const start = performance.now();
    await tellToStop(server);
    const ready = ask(server, "GET", "/readyz");
    const others = [
      ask(server, "GET", "/livez"),
      ask(server, "GET", "/v1/pets"),
      ask(server, "POST", "/v1/pets", { body: REX_JSON }),
    ];
    const slow = openSlowCreate(t, server);
    await Promise.allSettled([ready, slow, ...others]);
    if (performance.now() - start >= 1000 * delay) continue;
    assert.equal((await ready).status, 503, `${delay}`);
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 201], `${delay}`);
    await until("it refuses requests", async () => {
      const { status } = await ask(server, "GET", "/v1/pets")
        .catch(() => ({ status: 0 }));
      return status !== 200;
    }, 60_000);
    assert.ok(performance.now() - start >= 950 * delay, `${delay}`);
    assert.match(await (await slow).finish(), /^HTTP\/1\.1 201 /, `${delay}`);
    assert.equal(await server.exited, 0, `${delay}`);
    return;
  }
  assert.fail("it asks too late");
});

test("SHUTDOWN_DELAY does not hold up the end by SIGINT, nor by a second signal", async (t) => {
  const env = { SHUTDOWN_DELAY: "3600" };
  const first = await startMain(t, { env });
  assert.equal(await first.end("SIGINT"), 0);
  const second = await startMain(t, { env });
  await tellToStop(second);
  assert.equal(await tellToExit(second), 1);
});

test("a signal that arrives twice, as Ctrl-C does through npx, lets a create finish", async (t) => {
  const server = await startMain(t);
  const slow = await openSlowCreate(t, server);
  server.kill("SIGTERM");
  server.kill("SIGINT"); // another one, because the system merges equal ones
  await until("it says so", () => /^SIG/m.test(server.stderr()));
  assert.match(await slow.finish(), /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);
});

for (const suffix of ["-wal", "-shm"]) {
  const isWindows = process.platform === "win32";
  testUnless(isWindows && "Windows deletes no open file")(
    `start ends with 1 once ${suffix} was deleted, and can be started again at once`,
    async (t) => {
      const file = join(newFolder(t), "pets.db");
      const env = { DATABASE_URL: `sqlite:${file}` };
      const server = await startMain(t, { env });
      const add = (to: typeof server) =>
        ask(to, "POST", "/v1/pets", { body: REX_JSON });
      assert.equal((await add(server)).status, 201);
      rmSync(file + suffix);
      assert.equal(await server.exited, 1);
      const reason = `${suffix} was deleted while in use; restart this process`;
      assert.match(server.stderr(), RegExp(reason));
      const again = await startMain(t, { env });
      assert.equal((await add(again)).status, 201);
      const { text } = await ask(again, "GET", "/v1/pets");
      assert.deepEqual(text.match(/(?<="id":)\d+/g), ["1", "2"]);
    },
  );
}

const onDeno = {
  test: testUnless(
    RUNTIME !== "deno" && "only Deno listens until creates are answered",
  ),
};

onDeno.test("a request that comes while Deno ends gets a 503 with CORS fields, and a log line", async (t) => {
  const origin = "https://app.example.com";
  const server = await startMain(t, { env: { CORS_ORIGINS: origin } });
  const slow = await openSlowCreate(t, server);
  await tellToStop(server);
  const headers = { origin, "x-request-id": "late" };
  const refused = await ask(server, "GET", "/v1/pets", { headers });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("x-request-id"), "late");
  assert.equal(refused.headers.get("access-control-allow-origin"), origin);
  assert.match(await slow.finish(), /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);
  assert.match(server.stdout(), /"status":503,.*"id":"late"/);
});

test("SIGHUP ends the server in order", async (t) => {
  const server = await startMain(t);
  assert.equal(await server.end("SIGHUP"), 0);
  assert.deepEqual(readdirSync(server.cwd), ["petstore.db"]);
});

test("SIGHUP is ignored under nohup by Bun, and ends Deno and Node in order", async (t) => {
  const prefix = ["sh", "-c", `trap '' HUP; exec "$@"`, "sh"];
  const server = await startMain(t, { prefix });
  server.kill("SIGHUP");
  if (RUNTIME === "bun") {
    assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
    assert.equal(await server.end(), 0);
    assert.doesNotMatch(server.stderr(), /SIGHUP/);
  } else assert.equal(await server.exited, 0);
});

testUnless(
  RUNTIME !== "node" && "only Node has a debugger that a signal opens",
)(
  "SIGUSR1 does not open Node's debugger",
  async (t) => {
    const server = await startMain(t);
    server.kill("SIGUSR1");
    assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
    assert.equal(await server.end(), 0);
    assert.doesNotMatch(server.stderr(), /debugger|inspector/i);
  },
);

testUnless(RUNTIME !== "node" && "only Node has the flag")(
  "the flag of the page keeps Node's debugger closed from the first moment",
  async (t) => {
    const [, flag = ""] = /`node (--\S+) node_modules\/\S+ start`/
      .exec(readText("docs/operating.md")) ?? [];
    const [node = "", ...words] = mainCommand(["start", "--port", "0"]);
    // Before Node itself runs, the signal would end the process.
    const begun = "data:text/javascript,console.error('begun')";
    const command = [node, flag, "--import", begun, ...words];
    const server = startProgram(t, command, { cwd: newFolder(t) });
    await until("it has begun", () => /begun/.test(server.stderr()));
    const timer = setInterval(() => server.kill("SIGUSR1"), 5);
    atEnd(t, () => clearInterval(timer));
    await untilListening(server);
    assert.equal(await server.end(), 0);
    assert.doesNotMatch(server.stderr(), /debugger|inspector/i);
  },
);

test("a stranger's half-sent body does not hold up the end", async (t) => {
  const server = await startMain(t, { env: { SHUTDOWN_TIMEOUT: "3600" } });
  const fields = ["Content-Length: 100"];
  const bytes = rawRequest("POST /v1/pets", fields) + "{";
  const wire = await openWire(t, server, bytes);
  assert.equal((await wire.answer()).status, 401);
  assert.equal(await server.end(), 0); // it would be killed after a minute
});

/** Starts a server on a PostgreSQL that accepts connections and answers nothing, yet. */
async function startWaiting(t: TestContext) {
  const { promise: connected, resolve } = Promise.withResolvers<Socket>();
  const silent = createServer((socket) => {
    atEnd(t, () => socket.destroy());
    resolve(socket);
  });
  const where = `127.0.0.1:${await listenOn(t, silent)}`;
  const env = { DATABASE_URL: `postgres://me:sesame@${where}/pets` };
  const port = await freePort();
  const command = mainCommand(["start", "--port", `${port}`]);
  const server = startProgram(t, command, { cwd: newFolder(t), env });
  return { ...server, port, postgres: await connected };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} while the storage opens ends the server with 0`, async (t) => {
    const server = await startWaiting(t);
    assert.equal(await server.end(signal), 0);
    assert.doesNotMatch(server.stderr(), /listens|pet_/);
  });
}

test("SIGTERM before the storage fails to open ends the server with 0", async (t) => {
  const server = await startWaiting(t);
  await tellToStop(server);
  const fields = "SFATAL\0C28P01\0Mwrong password\0\0";
  const length = String.fromCharCode(4 + fields.length);
  server.postgres.write(`E\0\0\0${length}${fields}`); // PostgreSQL's ErrorResponse
  assert.equal(await server.exited, 0);
  assert.doesNotMatch(server.stderr(), /password/);
});

test("start takes its port only once its storage is open", async (t) => {
  const { port } = await startWaiting(t);
  const connecting = Wire.open(port).then((wire) => wire.close());
  await assert.rejects(connecting, /ECONNREFUSED|Failed to connect/);
});

test("start that finds its port in use closes its storage", async (t) => {
  const { port } = await startMain(t);
  const cwd = newFolder(t);
  const args = ["start", "--port", `${port}`];
  const { code, stderr } = await runMain(args, { cwd });
  assert.match(stderr, /the address is in use; choose another port/);
  assert.deepEqual([code, readdirSync(cwd)], [1, ["petstore.db"]]);
});

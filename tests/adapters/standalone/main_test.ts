import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { generateKey } from "../../../core/keys/key_form.ts";
import { REVOCATION_DELAY } from "../../../core/keys/issued_keys.ts";
import { Wire } from "../../contract/wire.ts";
import { atEnd } from "../../support/at_end.ts";
import { freePort, run, startProgram } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  RUNTIME,
  skipping,
  testUnless,
} from "../../support/runtime.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { listenOn } from "../../support/server.ts";
import { until } from "../../support/time.ts";
import { ask } from "../../contract/ask.ts";
import {
  MAIN,
  mainCommand,
  NO_TERMINAL,
  openSlowCreate,
  runMain,
  startMain,
  tellToStop,
  untilListening,
} from "../../support/standalone.ts";
import { REX_JSON } from "../../support/pets.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const { skip, emptyDatabase } = await sharedPostgres();

testUnless(skipping(NO_TERMINAL))(
  "start on a terminal prints the address and a first key, which outlives a restart",
  async (t) => {
    const first = await startMain(t, { isTerminal: true });
    assert.match(first.key ?? "", /^pet_[0-9A-Za-z]{38}$/);
    const last = `'

The pet store listens at ${first.origin}/v1/pets
Its first API key, shown only now:

    ${first.key}

`;
    const greeting = first.stderr();
    assert.ok(greeting.endsWith(last), greeting);
    assert.doesNotMatch(greeting, /API key, run/);
    const body = '{"name":"Rex","categoryId":-7}';
    const added = await ask(first, "POST", "/v1/pets", { body });
    assert.equal(added.status, 201);
    await first.end();

    const { cwd } = first;
    const second = await startMain(t, { cwd, isTerminal: true });
    assert.equal(second.key, undefined);
    assert.match(
      second.stderr(),
      /^For another API key, run: (?:(?:deno|npx -y deno@2\.9\.6) task|\w+ adapters\/standalone\/main\.ts) keys issue NAME$/m,
    );
    const withKey = { ...second, key: first.key };
    const { text } = await ask(withKey, "GET", "/v1/pets");
    assert.equal(
      text,
      '[{"id":1,"name":"Rex","categoryId":-7,"status":"available"}]',
    );
  },
);

test("start without a terminal issues no key, and says how to issue one", async (t) => {
  const cwd = newFolder(t);
  const args = ["start", "--port", "0"];
  const program = startProgram(t, mainCommand(args), { cwd });
  const server = await untilListening(program);
  assert.match(server.stderr(), /^For an API key, run: .* keys issue NAME$/m);
  assert.equal(await server.end(), 0);
  const { stdout } = await runMain(["keys", "list", "--json"], { cwd });
  assert.equal(stdout, "[]\n");

  const env = { DATABASE_URL: "memory:" };
  const refused = await runMain(args, { cwd, env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^Cannot start: .* Set PETSTORE_API_KEYS\n$/);
});

testUnless(RUNTIME !== "node" && "only Node compiles again")(
  "start keeps what Node compiles while the server runs",
  async (t) => {
    const cache = join(newFolder(t), "compiled");
    await startMain(t, { env: { NODE_COMPILE_CACHE: cache } });
    const files = () => readdirSync(cache, { recursive: true });
    await until("compiled code is kept", () => files().length > 9);
  },
);

test("start accepts fixed keys beside issued ones, and names only their setting", async (t) => {
  const cwd = newFolder(t);
  const issue = ["keys", "issue", "mobile app"];
  const json = await runMain([...issue, "--json"], { cwd });
  const quiet = await runMain([...issue, "--quiet"], { cwd });
  const database = `sqlite:${join(cwd, "petstore.db")}`;
  assert.equal(json.stderr, `Made a new database: ${database}\n`);
  assert.equal(quiet.stderr, "");
  assert.equal(quiet.code, 0);
  assert.match(quiet.stdout, /^pet_[0-9A-Za-z]{38}\n$/);
  const issued = [JSON.parse(json.stdout).key, quiet.stdout.trim()];
  const server = await startMain(t, {
    cwd,
    env: { PETSTORE_API_KEYS: "fixed-1,fixed-2", REQUEST_LOG: "off" },
  });
  assert.match(
    server.stderr(),
    /^The API keys are those in PETSTORE_API_KEYS\n/m,
  );
  assert.doesNotMatch(server.stderr(), /pet_|fixed-/);
  for (const key of ["fixed-1", "fixed-2", ...issued, "fixed-3"]) {
    const { status } = await ask({ ...server, key }, "GET", "/v1/pets");
    assert.equal(status, key === "fixed-3" ? 401 : 200);
  }
  await server.end();
  assert.equal(server.stdout(), "", "REQUEST_LOG is off");
});

test("start reads MAX_BODY_BYTES, above a runtime's own, and IDEMPOTENCY_RETENTION", async (t) => {
  const limit = 3_000_000;
  const env = { MAX_BODY_BYTES: `${limit}`, IDEMPOTENCY_RETENTION: "0" };
  const server = await startMain(t, { env });
  const headers = { "idempotency-key": "a" };
  for (const [size, expected] of [[limit, 201], [limit + 1, 413]] as const) {
    const body = REX_JSON.padEnd(size);
    const add = () => ask(server, "POST", "/v1/pets", { body, headers });
    const { status, text } = await add();
    assert.deepEqual([status, text === ""], [expected, false]);
    assert.equal((await add()).headers.get("idempotency-replayed"), null);
  }
  assert.equal(await server.end(), 0);
});

test("keys issues a key, lists it, and revokes it, also for a running server", async (t) => {
  const server = await startMain(t);
  const { cwd } = server;
  const name = "two \u202Ewords\u009b"; // from right to left, and the begin of a command, on a terminal
  const issued = await runMain(["keys", "issue", name], { cwd });
  assert.equal(issued.code, 0);
  const [, key] =
    /^Key 1 for two \uFFFDwords\uFFFD\. .*:\n\n {4}(pet_\w{38})\n\n$/
      .exec(issued.stdout) ?? [];
  assert.ok(key !== undefined);
  const other = { ...server, key };
  assert.equal((await ask(other, "GET", "/v1/pets")).status, 200);

  await until("the use of the key is noted", async () => {
    const { stdout } = await runMain(["keys", "list", "--json"], { cwd });
    return /"lastUsed":"\d{4}-\d\d-\d\d"/.test(stdout);
  });
  const table = await runMain(["keys", "list"], { cwd });
  assert.match(
    table.stdout,
    RegExp(
      "^ID {4}CREATED {14}LAST USED {2}EXPIRES {14}REVOKED {14}NAME\n" +
        String.raw`1 {5}\S{20} [\d-]{10} - {20}- {20}two \uFFFDwords\uFFFD\n$`,
    ),
  );
  assert.doesNotMatch(table.stdout, /pet_/);

  const missing = await runMain(["keys", "revoke", "999999999"], { cwd });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^Cannot find key 9{9}: /m);
  const revoked = await runMain(["keys", "revoke", "1", "--json"], { cwd });
  assert.match(revoked.stdout, /"two \\u202ewords\\u009b"/);
  const record = JSON.parse(revoked.stdout);
  assert.deepEqual([record.id, record.name], [1, name]);
  const deadline = Date.parse(record.revoked) + REVOCATION_DELAY;
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, deadline - Date.now()))
  );
  assert.equal((await ask(other, "GET", "/v1/pets")).status, 401);
  assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);

  const listed = await runMain(["keys", "list", "--json"], { cwd });
  const [one, ...others] = JSON.parse(listed.stdout);
  assert.deepEqual([one.revoked, others], [record.revoked, []]);
});

test("keys issue shows when a key expires, and keys list too", async (t) => {
  const cwd = newFolder(t);
  const began = Date.now();
  const issue = ["keys", "issue", "guest", "--expires", "3650d"];
  const issued = await runMain(issue, { cwd });
  const until = String.raw`valid until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\.`;
  const told = RegExp(`^Key 1 for guest, ${until} `).exec(issued.stdout);
  const list = await runMain(["keys", "list"], { cwd });
  assert.match(list.stdout, RegExp(`Z - {10}${told?.[1]} - {20}guest\n$`));
  const json = await runMain(["keys", "list", "--json"], { cwd });
  const [{ expires, lastUsed }] = JSON.parse(json.stdout);
  const days = (Date.parse(expires) - began) / 86_400_000;
  assert.ok(days >= 3650 && days < 3650.1, expires);
  assert.equal(lastUsed, null);
});

testUnless(skip)(
  "keys ends without waiting until a connection to PostgreSQL is idle for 30 s",
  async (t) => {
    const cwd = newFolder(t);
    const env = { DATABASE_URL: await emptyDatabase() };
    const began = performance.now();
    const { code, stderr } = await runMain(["keys", "list"], { cwd, env });
    const { host, pathname } = new URL(env.DATABASE_URL);
    const named = `Database: postgres://${host}${pathname}\n`;
    // A busy server may be waited for first, which is told too.
    assert.deepEqual([code, stderr.endsWith(named)], [0, true], stderr);
    assert.ok(performance.now() - began < 25_000);
  },
);

testUnless(RUNTIME !== "node" && "only Node 22 warns of SQLite")(
  "a command hides that Node warns of SQLite, and nothing else it warns of",
  async (t) => {
    const cwd = newFolder(t);
    const later = "setTimeout(()=>process.emitWarning('x'),1000)";
    const flags = ["--import", `data:text/javascript,${later}`];
    const command = [process.execPath, ...flags, MAIN, "keys", "issue", "a"];
    const { stderr } = await run(command, { cwd });
    const told = /^Made a new .*\n\(node:\d+\) Warning: x\n\(Use .*\n$/;
    assert.match(stderr, told);
  },
);

test("keys revoke takes the key itself, also from standard input, and never shows it", async (t) => {
  const cwd = newFolder(t);
  const issue = ["keys", "issue", "leaked", "--quiet"];
  const [first, second] = [
    (await runMain(issue, { cwd })).stdout.trim(),
    (await runMain(issue, { cwd })).stdout.trim(),
  ];
  const byKey = await runMain(["keys", "revoke", first], { cwd });
  assert.match(byKey.stdout, /^Key 1 for leaked has been revoked since /);
  const command = mainCommand(["keys", "revoke", "-"]);
  const revoking = startProgram(t, command, { cwd, isInteractive: true });
  revoking.send(` ${second} `);
  assert.equal(await revoking.endInput(), 0);
  assert.match(revoking.stdout(), /^Key 2 for leaked has been revoked since /);

  const env = { PETSTORE_API_KEYS: `sesame,${second}` };
  const cases = [
    ["sesame", /^Cannot revoke a fixed key: /, 1],
    [second, /^Cannot revoke a fixed key: /, 1],
    [`${first}x`, /^Cannot read KEY: it is neither an id nor an issued /, 2],
    [generateKey(), /\nCannot find this key: see keys list\n$/, 1],
  ] as const;
  for (const [key, message, code] of cases) {
    const refused = await runMain(["keys", "revoke", key], { cwd, env });
    assert.deepEqual([refused.code, refused.stdout], [code, ""]);
    assert.match(refused.stderr, message);
    assert.ok(!refused.stderr.includes(key));
  }
});

test("SIGTERM lets a create under way finish, and then exits with 0", async (t) => {
  const server = await startMain(t);
  const slow = await openSlowCreate(t, server);
  await tellToStop(server);
  const answer = await slow.finish();
  assert.match(answer, /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);

  const again = await startMain(t, { cwd: server.cwd });
  const { text } = await ask(again, "GET", "/v1/pets");
  assert.match(text, /^\[\{[^{]*\}\]$/);
});

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
    assert.equal((await ask(one, "GET", "/readyz")).status, 503);
    assert.equal((await ask(one, "GET", "/livez")).status, 200);
  }
  assert.equal(await server.end(), 1);
});

test("ADMIN_PORT answers /metrics until the requests in flight are finished", async (t) => {
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
    assert.equal((await ask(server, "GET", "/readyz")).status, 200);
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
    assert.equal((await ready).status, 503);
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 201]);
    await until("it refuses requests", async () => {
      const { status } = await ask(server, "GET", "/v1/pets")
        .catch(() => ({ status: 0 }));
      return status !== 200;
    }, 60_000);
    assert.ok(performance.now() - start >= 950 * delay);
    assert.match(await (await slow).finish(), /^HTTP\/1\.1 201 /);
    assert.equal(await server.exited, 0);
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
  assert.equal(await second.end(), 1);
});

test("a second signal ends the server at once", async (t) => {
  const server = await startMain(t, { env: { SHUTDOWN_TIMEOUT: "3600" } });
  await openSlowCreate(t, server);
  await tellToStop(server);
  assert.equal(await server.end("SIGINT"), 1);
});

testUnless(
  RUNTIME !== "deno" && "only Deno listens until creates are answered",
)(
  "a request that comes while Deno ends gets a 503 with CORS fields, and a log line",
  async (t) => {
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
  },
);

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

/**
 * Starts a server whose database is locked by a program that runs `sql`, and waits until it has
 * opened its port.
 */
async function startLocked(t: TestContext, sql = "") {
  const cwd = newFolder(t);
  const other = new DatabaseSync(join(cwd, "petstore.db"));
  other.exec(`BEGIN EXCLUSIVE; ${sql}`);
  const port = await freePort();
  const command = mainCommand(["start", "--port", String(port)]);
  const server = startProgram(t, command, { cwd });
  await until("it has taken its port", () =>
    Wire.open(port).then((wire) => {
      wire.close();
      return true;
    }, () => false));
  const unlock = () => {
    other.exec("COMMIT");
    other.close();
  };
  const base = `http://127.0.0.1:${port}`;
  return { ...server, cwd, fetch, base, key: "none", unlock };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} while the storage opens ends the server with 0`, async (t) => {
    const server = await startLocked(t);
    assert.equal(await server.end(signal), 0);
    assert.doesNotMatch(server.stderr(), /listens|pet_/);
    server.unlock();
  });
}

test("SIGTERM before the storage fails to open ends the server with 0", async (t) => {
  const server = await startLocked(t, "CREATE TABLE others (id)");
  await tellToStop(server);
  server.unlock();
  assert.equal(await server.exited, 0);
  assert.doesNotMatch(server.stderr(), /Cannot open/);
});

test("a request that came while the storage opened is answered in spite of SIGTERM", async (t) => {
  const server = await startLocked(t);
  const answer = ask(server, "GET", "/v1/pets");
  await new Promise((resolve) => setTimeout(resolve, 100)); // it arrives
  await tellToStop(server);
  server.unlock();
  assert.equal((await answer).status, 401);
  assert.equal(await server.exited, 0);
  assert.deepEqual(readdirSync(server.cwd), ["petstore.db"], "it was closed");
});

test("start says that it waits for PostgreSQL, and where", async (t) => {
  const silent = createServer((socket) => atEnd(t, () => socket.destroy()));
  const where = `127.0.0.1:${await listenOn(t, silent)}`;
  const env = { DATABASE_URL: `postgres://me:sesame@${where}/pets` };
  const command = mainCommand(["start", "--port", "0"]);
  const program = startProgram(t, command, { cwd: newFolder(t), env });
  await until("it says so", () => program.stderr() !== "");
  await program.end("SIGKILL");
  assert.equal(
    program.stderr(),
    `PostgreSQL at ${where} does not answer yet: waiting for about 10 s\n`,
  );
});

testUnless(RUNTIME !== "node" && "Deno and Bun install packages by themselves")(
  "Node without its packages says what to run, and keeps what it compiled",
  async (t) => {
    const cwd = newFolder(t);
    for (const folder of ["adapters", "core"]) {
      cpSync(pathOf(folder), join(cwd, folder), { recursive: true });
    }
    const command = commandLine("adapters/standalone/main.ts");
    const { code, stderr } = await run([...command, "start", "--port", "0"], {
      cwd,
    });
    assert.equal(code, 1);
    assert.match(stderr, /^The package valibot is not installed.*\n$/);
    assert.ok(existsSync(join(cwd, "node_modules/.cache/petstore")));
  },
);

import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { generateKey } from "../../../core/keys/key_form.ts";
import { REVOCATION_DELAY } from "../../../core/keys/issued_keys.ts";
import { Wire } from "../../contract/wire.ts";
import { freePort, launch, listen, run } from "../../support/process.ts";
import {
  commandLine,
  RUNTIME,
  skipping,
  testUnless,
} from "../../support/runtime.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { until } from "../../support/time.ts";
import { ask } from "../../contract/ask.ts";
import {
  launchMain,
  MAIN,
  NO_TERMINAL,
  openSlowCreate,
  runMain,
  startMain,
  untilListening,
} from "../../support/standalone.ts";
import { REX_JSON } from "../../support/pets.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const { skip, emptyDatabase } = await sharedPostgres();

/** Registers tests, each with a new folder; they are skipped if there is a reason. */
function unless(reason: string | false) {
  return (title: string, check: (cwd: string) => Promise<void>) =>
    testUnless(reason)(title, (t) => check(newFolder(t)));
}
const it = unless(false);

unless(skipping(NO_TERMINAL))(
  "start on a terminal prints its address and the first key last, and keeps the key and the pets over a restart",
  async (cwd) => {
    const first = await startMain({ cwd, isTerminal: true });
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

    const second = await startMain({ cwd, isTerminal: true });
    assert.equal(second.key, undefined);
    assert.match(
      second.stderr(),
      /^For another API key, run: (?:deno task|\w+ adapters\/standalone\/main\.ts) keys issue NAME$/m,
    );
    const withKey = { ...second, key: first.key };
    const { text } = await ask(withKey, "GET", "/v1/pets");
    assert.equal(
      text,
      '[{"id":1,"name":"Rex","categoryId":-7,"status":"available"}]',
    );
    await second.end("SIGINT");
  },
);

it("start without a terminal issues no key, which would stay in a log, and says how to issue one", async (cwd) => {
  const args = ["start", "--port", "0"];
  const server = await untilListening(launchMain(args, { cwd }));
  assert.match(server.stderr(), /^For an API key, run: .* keys issue NAME$/m);
  assert.equal(await server.end(), 0);
  const { stdout } = await runMain(["keys", "list", "--json"], { cwd });
  assert.equal(stdout, "[]\n");

  const env = { DATABASE_URL: "memory:" };
  const refused = await runMain(args, { cwd, env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^Cannot start: .* Set PETSTORE_API_KEYS\n$/);
});

unless(RUNTIME !== "node" && "only Node compiles again")(
  "start keeps what Node compiles while the server runs, so a killed one need not compile again",
  async (cwd) => {
    const cache = join(cwd, "compiled");
    const server = await startMain({ cwd, env: { NODE_COMPILE_CACHE: cache } });
    const files = () => readdirSync(cache, { recursive: true });
    try {
      await until("compiled code is kept", () => files().length > 9);
    } finally {
      await server.end();
    }
  },
);

it("start accepts fixed keys in addition to issued ones, and prints none if any is set", async (cwd) => {
  const issue = ["keys", "issue", "mobile app"];
  const json = await runMain([...issue, "--json"], { cwd });
  const quiet = await runMain([...issue, "--quiet"], { cwd });
  const database = `sqlite:${join(cwd, "petstore.db")}`;
  assert.equal(json.stderr, `Made a new database: ${database}\n`);
  assert.equal(quiet.stderr, "");
  assert.equal(quiet.code, 0);
  assert.match(quiet.stdout, /^pet_[0-9A-Za-z]{38}\n$/);
  const issued = [JSON.parse(json.stdout).key, quiet.stdout.trim()];
  const server = await startMain({
    cwd,
    env: { PETSTORE_API_KEYS: "fixed-1,fixed-2", REQUEST_LOG: "off" },
  });
  assert.doesNotMatch(server.stderr(), /pet_|API key/);
  for (const key of ["fixed-1", "fixed-2", ...issued, "fixed-3"]) {
    const { status } = await ask({ ...server, key }, "GET", "/v1/pets");
    assert.equal(status, key === "fixed-3" ? 401 : 200);
  }
  await server.end();
  assert.equal(server.stdout(), "", "REQUEST_LOG is off");
});

it("start reads the settings of bodies and of idempotency keys: above the limits of each runtime, and below", async (cwd) => {
  const limit = 3_000_000;
  const server = await startMain({
    cwd,
    env: {
      DATABASE_URL: "memory:",
      PETSTORE_API_KEYS: "secret",
      MAX_BODY_BYTES: `${limit}`,
      IDEMPOTENCY_RETENTION: "0",
    },
  });
  const rex = '{"name":"Rex","categoryId":1}';
  const headers = { "idempotency-key": "a" };
  for (const [size, expected] of [[limit, 201], [limit + 1, 413]] as const) {
    const body = rex.padEnd(size);
    const add = () =>
      ask({ ...server, key: "secret" }, "POST", "/v1/pets", { body, headers });
    const { status, text } = await add();
    assert.deepEqual([status, text === ""], [expected, false]);
    assert.equal((await add()).headers.get("idempotency-replayed"), null);
  }
  assert.equal(await server.end(), 0);
});

it("keys issues a key, lists it without its secret, and revokes it: a running server refuses it within a second", async (cwd) => {
  const server = await startMain({ cwd });
  const name = "two \u202Ewords\u009b"; // from right to left, and the begin of a command, on a terminal
  const issued = await runMain(["keys", "issue", name], { cwd });
  assert.equal(issued.code, 0);
  const [, key] =
    /^Key 1 for two \uFFFDwords\uFFFD\. .*:\n\n {4}(pet_\w{38})\n\n$/
      .exec(issued.stdout) ?? [];
  assert.ok(key !== undefined);
  const other = { ...server, key };
  assert.equal((await ask(other, "GET", "/v1/pets")).status, 200);

  const table = await runMain(["keys", "list"], { cwd });
  assert.match(
    table.stdout,
    /^ID {4}CREATED {18}REVOKED {18}NAME\n1 {5}\S{24} - {24}two \uFFFDwords\uFFFD\n$/,
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

  const listed = JSON.parse(
    (await runMain(["keys", "list", "--json"], { cwd })).stdout,
  );
  assert.deepEqual(listed.map((one: { revoked: unknown }) => one.revoked), [
    record.revoked,
  ]);
  await server.end();
});

unless(skip)(
  "keys closes the database once it is done, rather than wait until PostgreSQL's connection is idle for 30 s",
  async (cwd) => {
    const env = { DATABASE_URL: await emptyDatabase() };
    const began = performance.now();
    const { code, stderr } = await runMain(["keys", "list"], { cwd, env });
    const { host, pathname } = new URL(env.DATABASE_URL);
    const named = `Database: postgres://${host}${pathname}\n`;
    assert.deepEqual([code, stderr], [0, named]);
    assert.ok(performance.now() - began < 25_000);
  },
);

unless(RUNTIME !== "node" && "only Node 22 warns of SQLite")(
  "no command shows that Node warns of SQLite, but what else it warns of",
  async (cwd) => {
    const later = "setTimeout(()=>process.emitWarning('x'),1000)";
    const node = [
      process.execPath,
      "--import",
      `data:text/javascript,${later}`,
    ];
    const { stderr } = await run([...node, MAIN, "keys", "issue", "a"], {
      cwd,
    });
    assert.match(
      stderr,
      /^Made a new .*\n\(node:\d+\) Warning: x\n\(Use .*\n$/,
    );
  },
);

it("keys revoke takes the key itself, also from standard input, and shows no key if it cannot", async (cwd) => {
  const issue = ["keys", "issue", "leaked", "--quiet"];
  const [first, second] = [
    (await runMain(issue, { cwd })).stdout.trim(),
    (await runMain(issue, { cwd })).stdout.trim(),
  ];
  const byKey = await runMain(["keys", "revoke", first], { cwd });
  assert.match(byKey.stdout, /^Key 1 for leaked has been revoked since /);
  const revoking = launchMain(["keys", "revoke", "-"], {
    cwd,
    isInteractive: true,
  });
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

it("SIGTERM lets a create under way finish, and then exits with 0", async (cwd) => {
  const server = await startMain({ cwd });
  const slow = await openSlowCreate(server);
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  const answer = await slow.finish();
  assert.match(answer, /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);

  const again = await startMain({ cwd });
  const { text } = await ask({ ...again, key: server.key }, "GET", "/v1/pets");
  assert.match(text, /^\[\{[^{]*\}\]$/);
  await again.end();
});

it("a request that does not finish holds the end up for SHUTDOWN_TIMEOUT at most", async (cwd) => {
  const server = await startMain({ cwd, env: { SHUTDOWN_TIMEOUT: "1" } });
  const slow = await openSlowCreate(server);
  assert.equal(await server.end(), 0);
  assert.match(server.stderr(), /did not finish within 1000 ms/);
  slow.abandon();
});

it("ADMIN_PORT is the only port with /metrics, and has the probes and nothing else", async (cwd) => {
  const env = { METRICS: "on", ADMIN_PORT: "0", SHUTDOWN_DELAY: "3600" };
  const server = await startMain({ cwd, env });
  const [, base = ""] = /^The probes and metrics are at (.*)$/m
    .exec(server.stderr()) ?? [];
  const admin = { ...server, base };
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

  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  for (const one of [server, admin]) {
    assert.equal((await ask(one, "GET", "/readyz")).status, 503);
    assert.equal((await ask(one, "GET", "/livez")).status, 200);
  }
  assert.equal(await server.end(), 1);
});

it("ADMIN_PORT answers /metrics until the requests in flight are finished", async (cwd) => {
  const env = { METRICS: "on", ADMIN_PORT: "0" };
  const server = await startMain({ cwd, env });
  const [, base = ""] = /^The probes and metrics are at (.*)$/m
    .exec(server.stderr()) ?? [];
  const slow = await openSlowCreate(server);
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  const { status } = await ask({ ...server, base }, "GET", "/metrics");
  assert.equal(status, 200);
  assert.match(await slow.finish(), /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);
});

it("SHUTDOWN_DELAY after SIGTERM refuses /readyz only, and then ends in order", async (cwd) => {
  const server = await startMain({ cwd, env: { SHUTDOWN_DELAY: "2" } });
  assert.equal((await ask(server, "GET", "/readyz")).status, 200);
  const start = performance.now();
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  const ready = await ask(server, "GET", "/readyz");
  const others = [
    await ask(server, "GET", "/livez"),
    await ask(server, "GET", "/v1/pets"),
    await ask(server, "POST", "/v1/pets", { body: REX_JSON }),
  ];
  const [slow, passed] = [await openSlowCreate(server), performance.now()];
  // Only a machine that is very slow asks too late.
  assert.ok(passed - start < 2000, `${passed - start} ms`);
  assert.equal(ready.status, 503);
  assert.deepEqual(others.map(({ status }) => status), [200, 200, 201]);
  await until("it refuses requests", async () => {
    const { status } = await ask(server, "GET", "/v1/pets")
      .catch(() => ({ status: 0 }));
    return status !== 200;
  });
  assert.ok(performance.now() - start >= 1900);
  assert.match(await slow.finish(), /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);
});

it("SHUTDOWN_DELAY does not hold up the end by SIGINT, nor by a second signal", async (cwd) => {
  const env = { SHUTDOWN_DELAY: "3600" };
  const first = await startMain({ cwd, env });
  assert.equal(await first.end("SIGINT"), 0);
  const second = await startMain({ cwd, env });
  second.kill("SIGTERM");
  await until("it says so", () => second.stderr().includes("SIGTERM"));
  assert.equal(await second.end(), 1);
});

it("a second signal ends the server at once", async (cwd) => {
  const server = await startMain({ cwd, env: { SHUTDOWN_TIMEOUT: "3600" } });
  const slow = await openSlowCreate(server);
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  assert.equal(await server.end("SIGINT"), 1);
  slow.abandon();
});

unless(RUNTIME !== "deno" && "only Deno listens until creates are answered")(
  "a request that comes while Deno ends is refused with CORS fields, X-Request-Id and a line of log",
  async (cwd) => {
    const origin = "https://app.example.com";
    const server = await startMain({ cwd, env: { CORS_ORIGINS: origin } });
    const slow = await openSlowCreate(server);
    server.kill("SIGTERM");
    await until("it says so", () => server.stderr().includes("SIGTERM"));
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

it("SIGHUP ends the server in order", async (cwd) => {
  const server = await startMain({ cwd });
  assert.equal(await server.end("SIGHUP"), 0);
  assert.deepEqual(readdirSync(cwd), ["petstore.db"]);
});

it("SIGHUP is ignored under nohup by Bun, and ends Deno and Node in order", async (cwd) => {
  const nohup = ["sh", "-c", `trap '' HUP; exec "$@"`, "sh"];
  const command = [...nohup, ...commandLine(MAIN), "start", "--port", "0"];
  const env = { PETSTORE_API_KEYS: "secret" };
  const server = await untilListening(launch(command, { cwd, env }), "secret");
  server.kill("SIGHUP");
  if (RUNTIME === "bun") {
    assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
    assert.equal(await server.end(), 0);
    assert.doesNotMatch(server.stderr(), /SIGHUP/);
  } else assert.equal(await server.exited, 0);
});

unless(RUNTIME !== "node" && "only Node has a debugger that a signal opens")(
  "SIGUSR1 does not open Node's debugger",
  async (cwd) => {
    const server = await startMain({ cwd });
    server.kill("SIGUSR1");
    assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
    assert.equal(await server.end(), 0);
    assert.doesNotMatch(server.stderr(), /debugger|inspector/i);
  },
);

/** Starts a server whose database is locked, and waits until it has taken its port. */
async function startLocked(cwd: string) {
  const other = new DatabaseSync(join(cwd, "petstore.db"));
  other.exec("BEGIN EXCLUSIVE");
  const port = await freePort();
  const server = launchMain(["start", "--port", String(port)], { cwd });
  await until("it has taken its port", () =>
    Wire.open(port).then((wire) => {
      wire.close();
      return true;
    }, () => false));
  const unlock = () => {
    other.exec("COMMIT");
    other.close();
  };
  return { server, origin: `http://127.0.0.1:${port}`, unlock };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  it(`${signal} while the storage opens ends the server with 0, and it issues no key`, async (cwd) => {
    const { server, unlock } = await startLocked(cwd);
    assert.equal(await server.end(signal), 0);
    assert.doesNotMatch(server.stderr(), /listens|pet_/);
    unlock();
  });
}

it("a request that comes while the storage opens is answered once it is open", async (cwd) => {
  const { server, origin, unlock } = await startLocked(cwd);
  const answer = ask({ fetch, base: origin, key: "none" }, "GET", "/v1/pets");
  await new Promise((resolve) => setTimeout(resolve, 100)); // it arrives
  unlock();
  assert.equal((await answer).status, 401);
  assert.equal(await server.end(), 0);
});

it("a request that comes while the storage opens is answered although the server is told to stop", async (cwd) => {
  const { server, origin, unlock } = await startLocked(cwd);
  const answer = ask({ fetch, base: origin, key: "none" }, "GET", "/v1/pets");
  await new Promise((resolve) => setTimeout(resolve, 100)); // it arrives
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  unlock();
  assert.equal((await answer).status, 401);
  assert.equal(await server.exited, 0);
  assert.deepEqual(readdirSync(cwd), ["petstore.db"], "it was closed");
});

it("start says that it waits for PostgreSQL, and where", async (cwd) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  const where = `127.0.0.1:${await listen(silent)}`;
  const env = { DATABASE_URL: `postgres://me:sesame@${where}/pets` };
  const program = launchMain(["start", "--port", "0"], { cwd, env });
  await until("it says so", () => program.stderr() !== "");
  await program.end("SIGKILL");
  assert.equal(
    program.stderr(),
    `PostgreSQL at ${where} does not answer yet: waiting for about 10 s\n`,
  );
  for (const socket of sockets) socket.destroy();
  silent.close();
});

unless(RUNTIME !== "node" && "Deno and Bun install packages by themselves")(
  "Node without its packages says what to run, without a stack, and keeps what it compiled",
  async (cwd) => {
    for (const folder of ["adapters", "core"]) {
      const from = new URL(`../../../${folder}`, import.meta.url);
      cpSync(fileURLToPath(from), join(cwd, folder), { recursive: true });
    }
    const command = commandLine("adapters/standalone/main.ts");
    const { code, stderr } = await run([...command, "start"], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /^The package valibot is not installed.*\n$/);
    assert.ok(existsSync(join(cwd, "node_modules/.cache/petstore")));
  },
);

/** The command `start`: its keys, its settings, and what it says. */
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { ask } from "../../contract/ask.ts";
import { atEnd } from "../../support/at_end.ts";
import { REX_JSON } from "../../support/pets.ts";
import { run, startProgram } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  RUNTIME,
  skipping,
  testUnless,
} from "../../support/runtime.ts";
import { listenOn } from "../../support/server.ts";
import {
  mainCommand,
  NO_TERMINAL,
  runMain,
  startMain,
  untilListening,
} from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import { answerTo, rawRequest } from "../../support/wire.ts";

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
  assert.match(refused.stderr, /^Cannot start without PETSTORE_API_KEYS: /);
});

const onNode = {
  test: testUnless(
    RUNTIME !== "node" && "only Node compiles again, and installs no packages",
  ),
};

onNode.test("start keeps what Node compiles while the server runs", async (t) => {
  const cache = join(newFolder(t), "compiled");
  await startMain(t, { env: { NODE_COMPILE_CACHE: cache } });
  const files = () => readdirSync(cache, { recursive: true });
  await until("compiled code is kept", () => files().length > 9);
});

testUnless(RUNTIME !== "bun" && "only Bun would take memory for it")(
  "start keeps what Bun compiles once the server ends, and not before",
  async (t) => {
    const cache = newFolder(t);
    const server = await startMain(t, { env: { NODE_COMPILE_CACHE: cache } });
    const files = () =>
      readdirSync(cache, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile());
    assert.deepEqual(files(), []);
    assert.equal(await server.end(), 0);
    assert.ok(files().length > 9);
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
    assert.equal(status, key === "fixed-3" ? 401 : 200, key);
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
    assert.deepEqual([status, text === ""], [expected, false], `${size}`);
    assert.equal(
      (await add()).headers.get("idempotent-replayed"),
      null,
      `${size}`,
    );
  }
  assert.equal(await server.end(), 0);
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

onNode.test("start on Node keeps idle connections longer than most balancers do", async (t) => {
  const server = await startMain(t);
  const { lines } = await answerTo(server.port, rawRequest("GET /livez"));
  assert.ok(lines.includes("keep-alive: timeout=65"), lines.join("\n"));
});

test("start logs that it ignores the ADMIN_PORT of a Kubernetes Service", async (t) => {
  const env = { ADMIN_PORT: "tcp://10.96.0.7:9090", METRICS: "on" };
  const server = await startMain(t, { env });
  assert.match(server.stderr(), /^\{.*"message":"ADMIN_PORT is ignored: /);
  assert.equal((await ask(server, "GET", "/metrics")).status, 200);
});

onNode.test("Node without its packages says what to run, and keeps what it compiled", async (t) => {
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
});

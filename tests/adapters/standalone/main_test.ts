import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { REVOCATION_DELAY } from "../../../core/keys/issued_keys.ts";
import { fileURLToPath } from "node:url";
import { freePort, listen } from "../../support/ports.ts";
import { until } from "../../support/postgres/until.ts";
import { commandLine, RUNTIME } from "../../support/runtime.ts";
import {
  MAIN,
  run,
  runMain,
  type RunningServer,
  runToEnd,
  startMain,
  taskFlags,
  testInFolder as it,
} from "./program.ts";
import { skipping } from "../../support/skipping.ts";
import { openSlowCreate } from "./slow_create.ts";

const CURL_MISSING = skipping(
  spawnSync("curl", ["--version"]).status !== 0 && "curl is not installed",
);

function list(origin: string, key: string | undefined): Promise<Response> {
  return fetch(`${origin}/v1/pets`, {
    headers: { authorization: `Bearer ${key}` },
  });
}

async function create(
  { origin, key }: RunningServer,
  body: string,
): Promise<void> {
  const response = await fetch(`${origin}/v1/pets`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
    },
    body,
  });
  await response.body?.cancel();
  assert.equal(response.status, 201);
}

it("start prints the first key once, and keeps it and the animals over a restart", async (cwd) => {
  const first = await startMain({ cwd });
  assert.match(first.key ?? "", /^pet_[0-9A-Za-z]{38}$/);
  await create(first, '{"name":"Rex","categoryId":-7}');
  assert.equal(await first.end(), 0);

  const second = await startMain({ cwd });
  assert.equal(second.key, undefined);
  const listed = await list(second.origin, first.key);
  assert.equal(
    await listed.text(),
    '[{"id":1,"name":"Rex","categoryId":-7,"status":"available"}]',
  );
  assert.equal(await second.end("SIGINT"), 0);
});

it(
  "start keeps what Node compiles while the server runs, so a killed one need not compile again",
  async (cwd) => {
    const cache = join(cwd, "compiled");
    const server = await startMain({ cwd, env: { NODE_COMPILE_CACHE: cache } });
    const files = () => readdirSync(cache, { recursive: true });
    try {
      await until("compiled code is kept", () => files().length > 9, 5000);
    } finally {
      await server.end();
    }
  },
  { skip: RUNTIME !== "node" && "only Node compiles again" },
);

it(
  "start prints curl lines that work when pasted: one adds a pet, one lists it",
  async (cwd) => {
    const server = await startMain({ cwd, env: { DATABASE_URL: "memory:" } });
    const lines = server.stderr().match(/^ {4}curl .*$/gm) ?? [];
    const script = lines.map((line) => `${line} --silent --max-time 10`);
    const output = execFileSync("sh", ["-c", script.join("\n")], {
      encoding: "utf8",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", no_proxy: "*" },
    });
    const rex = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
    assert.equal(output, `${rex}\n[${rex}]\n`);
    await server.end();
  },
  { skip: CURL_MISSING },
);

it("start accepts fixed keys beside issued ones, and prints none where any is set", async (cwd) => {
  const issue = ["keys", "issue", "mobile app", "--json"];
  const { key } = JSON.parse((await runToEnd(issue, { cwd })).stdout);
  const server = await startMain({
    cwd,
    env: { PETSTORE_API_KEYS: "fixed-1,fixed-2", REQUEST_LOG: "off" },
  });
  assert.equal(server.key, undefined);
  for (const accepted of ["fixed-1", "fixed-2", key]) {
    assert.equal((await list(server.origin, accepted)).status, 200);
  }
  assert.equal((await list(server.origin, "fixed-3")).status, 401);
  await server.end();
  assert.equal(server.stdout(), "", "REQUEST_LOG is off");
});

it("keys issues, lists without the secret, and revokes while a server runs", async (cwd) => {
  const server = await startMain({ cwd });
  const issued = await runToEnd(["keys", "issue", "two words"], { cwd });
  assert.equal(issued.code, 0);
  const key = /pet_\w{38}/.exec(issued.stdout)?.[0];
  assert.ok(key !== undefined);
  assert.equal((await list(server.origin, key)).status, 200);

  const table = await runToEnd(["keys", "list"], { cwd });
  assert.match(
    table.stdout,
    /^ID +CREATED +REVOKED +NAME\n1 .*first key\n2 .*two words\n$/,
  );
  assert.doesNotMatch(table.stdout, /pet_/);

  const revoked = await runToEnd(["keys", "revoke", "2", "--json"], { cwd });
  const record = JSON.parse(revoked.stdout);
  assert.deepEqual([record.id, record.name], [2, "two words"]);
  const deadline = Date.parse(record.revoked) + REVOCATION_DELAY;
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, deadline - Date.now()))
  );
  assert.equal((await list(server.origin, key)).status, 401);
  assert.equal((await list(server.origin, server.key)).status, 200);

  const listed = JSON.parse(
    (await runToEnd(["keys", "list", "--json"], { cwd })).stdout,
  );
  assert.deepEqual(listed.map((one: { revoked: unknown }) => one.revoked), [
    null,
    record.revoked,
  ]);
  await server.end();
});

it("SIGTERM lets a create under way finish, and then exits with 0", async (cwd) => {
  const server = await startMain({ cwd });
  const slow = await openSlowCreate(server.origin, server.key);
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  const answer = await slow.finish();
  assert.match(answer, /^HTTP\/1\.1 201 /);
  assert.equal(await server.exited, 0);

  const again = await startMain({ cwd });
  assert.equal((await (await list(again.origin, server.key)).json()).length, 1);
  await again.end();
});

it("a request that does not finish holds the end up for SHUTDOWN_TIMEOUT at most", async (cwd) => {
  const server = await startMain({ cwd, env: { SHUTDOWN_TIMEOUT: "1" } });
  const slow = await openSlowCreate(server.origin, server.key);
  assert.equal(await server.end(), 0);
  assert.match(server.stderr(), /did not finish within 1000 ms/);
  slow.abandon();
});

it("a second signal ends the server at once", async (cwd) => {
  const server = await startMain({ cwd, env: { SHUTDOWN_TIMEOUT: "3600" } });
  const slow = await openSlowCreate(server.origin, server.key);
  server.kill("SIGTERM");
  await until("it says so", () => server.stderr().includes("SIGTERM"));
  assert.equal(await server.end("SIGINT"), 1);
  slow.abandon();
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  it(`${signal} while the storage opens ends the server with 0, and it issues no key`, async (cwd) => {
    const path = join(cwd, "petstore.db");
    const other = new DatabaseSync(path);
    other.exec("BEGIN EXCLUSIVE");
    const port = await freePort();
    const server = runMain(["start", "--port", String(port)], { cwd });
    await until("it has taken its port", () => canConnect(port));
    assert.equal(await server.end(signal), 0);
    assert.doesNotMatch(server.stderr(), /listens|pet_/);
    other.exec("COMMIT");
    other.close();
  });
}

it("a request that comes while the storage opens is answered once it is open", async (cwd) => {
  const other = new DatabaseSync(join(cwd, "petstore.db"));
  other.exec("BEGIN EXCLUSIVE");
  const port = await freePort();
  const server = runMain(["start", "--port", String(port)], { cwd });
  await until("it has taken its port", () => canConnect(port));
  const answer = list(`http://127.0.0.1:${port}`, "none");
  other.exec("COMMIT");
  other.close();
  assert.equal((await answer).status, 401);
  assert.equal(await server.end(), 0);
});

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

it("the log has one JSON line a request, and never a key", async (cwd) => {
  const server = await startMain({ cwd });
  for (let i = 0; i < 3; i++) {
    await create(server, '{"name":"Rex","categoryId":1}');
  }
  await server.end();
  const lines = server.stdout().trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
  assert.deepEqual(
    lines.map(({ method, route, status }) => [method, route, status]),
    Array(3).fill(["POST", "/v1/pets", 201]),
  );
  assert.equal(new Set(lines.map(({ id }) => id)).size, 3);
  assert.doesNotMatch(server.stdout(), /pet_|Rex/);
});

it("start refuses a port that is taken, and issues no key that nobody could use", async (cwd) => {
  const taken = createServer();
  const args = ["start", "--port", String(await listen(taken))];
  const refused = await runToEnd(args, { cwd });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /address is (already )?in use/i);
  assert.doesNotMatch(refused.stderr, /pet_| at /);
  assert.deepEqual(readdirSync(cwd), []);
  taken.close();

  const server = await startMain({ cwd });
  assert.notEqual(server.key, undefined);
  await server.end();
});

for (
  const [command, env, code, message] of [
    ["bogus", {}, 2, /no command "bogus"/],
    [
      "start --prot 1",
      {},
      2,
      /^Unknown option '--prot'\nSee --help\n$/,
    ],
    ["copy a b -x", {}, 2, /^Unknown option '-x'$/m],
    ["keys list --toString", {}, 2, /^Unknown option '--toString'$/m],
    ["start --port", {}, 2, /^Option '--port <value>' argument missing$/m],
    ["start --port --host ::1", {}, 2, /^Option '--port' .* is ambiguous$/m],
    ["start --host=", {}, 2, /^Option '--host' is empty$/m],
    [
      "keys list --json=yes",
      {},
      2,
      /^Option '--json' does not take an argument$/m,
    ],
    [
      "start --port 70000",
      {},
      2,
      /^Cannot read --port: it must be an integer from 0 to 65535/,
    ],
    [
      "start",
      { PORT: "70000" },
      1,
      /^Cannot read PORT: it must be an integer from 0 to /,
    ],
    [
      "copy memory: sqlite:b.db",
      {},
      2,
      /^Cannot read FROM: it must be sqlite:PATH/,
    ],
    ["copy sqlite:a.db", {}, 2, /^copy takes two addresses/],
    ["copy sqlite:a.db sqlite:b.db", {}, 1, /a\.db: there is no such file/],
    ["keys list --quiet", {}, 2, /^--quiet is for keys issue, without --json/],
    ["keys issue a --quiet --json", {}, 2, /^--quiet is for keys issue/],
    ["keys revoke one", {}, 2, /^The id of a key must be .* not "one"/],
    ["keys revoke 0", {}, 2, /^The id of a key must be .* not "0"/],
    ["start", { REQUEST_LOG: "no" }, 1, /REQUEST_LOG: it must be on or off/],
    ["keys rotate", {}, 2, /issue NAME/],
    ["keys issue ", {}, 2, /name of a key must not be empty/],
    ["keys list", {}, 1, /no database at petstore\.db/],
    ["keys list", { DATABASE_URL: "memory:" }, 1, /DATABASE_URL is memory:/],
  ] as const
) {
  it(`the program refuses "${command}" because of ${message}`, async (cwd) => {
    const run = await runToEnd(command.split(" "), { cwd, env });
    assert.equal(run.code, code);
    assert.match(run.stderr, message);
    assert.doesNotMatch(run.stderr, /^ +at /m);
    assert.equal(run.stdout, "");
  });
}

for (const name of ["", "start", "keys", "copy"]) {
  it(`${name} --help shows its usage and an example`, async (cwd) => {
    const args = [...name ? [name] : [], "--help"];
    const { code, stdout } = await runToEnd(args, { cwd });
    assert.equal(code, 0);
    const program = /^Usage: +(deno task|\w+ [\w/]+main\.ts) /m.exec(stdout)
      ?.[1];
    const example = `Example:  ${program} ${name || "start"}`;
    assert.ok(stdout.includes(`\n${example}`), stdout);
  });
}

it("openapi refuses arguments with 2, and shows its usage if asked", async (cwd) => {
  const path = fileURLToPath(
    new URL("../../../adapters/standalone/openapi.ts", import.meta.url),
  );
  for (
    const [argument, code, output] of [
      ["--bogus", 2, /^Unknown option '--bogus'$/m],
      ["pets", 2, /^openapi takes no arguments$/m],
      ["--help", 0, /^Usage: .*\nExample: /m],
    ] as const
  ) {
    const command = commandLine(path, ["--allow-env=BASE_URL"]);
    const program = run([...command, argument], { cwd });
    assert.equal(await program.exited, code);
    assert.match(program.stdout() + program.stderr(), output);
  }
});

it("judge --help shows its usage and an example", async (cwd) => {
  const path = fileURLToPath(
    new URL("../../judge/main.ts", import.meta.url),
  );
  const program = run([...commandLine(path, ["-E"]), "--help"], { cwd });
  assert.equal(await program.exited, 0);
  assert.match(program.stdout(), /^Usage: .* judge ADDRESS .*\nExample: /m);
});

it("--version prints the version in deno.json", async (cwd) => {
  const config = new URL("../../../deno.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(config, "utf8"));
  const { code, stdout } = await runToEnd(["--version"], { cwd });
  assert.deepEqual([code, stdout], [0, `${version}\n`]);
  const more = await runToEnd(["--version", "start"], { cwd });
  assert.deepEqual([more.code, more.stdout], [2, ""]);
});

it(
  "a command whose output cannot be written says so, and exits with 1",
  async (cwd) => {
    for (const args of [["--help"], ["keys", "issue", "demo", "--quiet"]]) {
      const command = [...commandLine(MAIN, taskFlags("keys")), ...args];
      const sh = ["sh", "-c", 'exec "$0" "$@" >/dev/full'];
      const program = run([...sh, ...command], { cwd });
      assert.equal(await program.exited, 1);
      assert.match(program.stderr(), /^.*no space left.*\n$/i);
    }
  },
  { skip: process.platform !== "linux" && "/dev/full is Linux's" },
);

it("keys issue NAME --quiet prints nothing but a key that works", async (cwd) => {
  const issue = ["keys", "issue", "mobile app", "--quiet"];
  const { code, stdout, stderr } = await runToEnd(issue, { cwd });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^pet_[0-9A-Za-z]{38}\n$/);
  const server = await startMain({ cwd });
  assert.equal((await list(server.origin, stdout.trim())).status, 200);
  await server.end();
});

it("a revoke of a key that is not there says so", async (cwd) => {
  await runToEnd(["keys", "issue", "one"], { cwd });
  for (const id of ["2", "999999999"]) {
    const run = runMain(["keys", "revoke", id], { cwd });
    assert.equal(await run.exited, 1);
    assert.match(run.stderr(), /There is no key/);
  }
});

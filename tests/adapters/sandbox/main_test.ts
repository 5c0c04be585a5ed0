/** The program, on each runtime. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runSandbox } from "../../../adapters/sandbox/main.ts";
import {
  findRuntimes,
  type Runtime,
  testUnless,
} from "../../support/runtime.ts";
import { atEnd } from "../../support/at_end.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import { rawRequest, statusOf } from "../../support/wire.ts";
import { launchSandbox, startSandbox } from "./sandbox_program.ts";

/** Registers a test for each runtime; `start` starts a sandbox there, which ends after the test. */
const onEveryRuntime = {
  test(
    title: string,
    check: (
      start: ReturnType<typeof starting>,
      runtime: Runtime,
    ) => Promise<void>,
  ): void {
    for (const runtime of findRuntimes()) {
      const { name, missing } = runtime;
      testUnless(missing ?? false)(
        `${name}: ${title}`,
        (t) => check(starting(t, runtime), runtime),
      );
    }
  },
};

function starting(t: TestContext, runtime?: Runtime) {
  return async (args: string | readonly string[]) => {
    const started = await startSandbox(args, runtime);
    atEnd(t, () => started.program.end("SIGKILL"));
    return started;
  };
}

onEveryRuntime.test("standard output is one line of JSON, and what people read is on standard error", async (start) => {
  const { url, key, control, program, send } = await start("--pets 2");
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.deepEqual([key, control], ["test", url.replace("/v1", "/sandbox")]);
  await send("GET /v1/pets");
  assert.equal(await program.end(), 0);
  const line = JSON.stringify({ url, key, control });
  assert.equal(program.stdout(), `${line}\n`);
  const told =
    `^\nA sandbox, for tests only: .*\n\n    curl .* ${url}/pets\n    curl .* -d `;
  assert.match(program.stderr(), RegExp(told));
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  onEveryRuntime.test(`${signal} ends it, although clients wait`, async (start) => {
    const sandbox = await start("--delay 60000 --quiet");
    const { program, url, key, requests } = sandbox;
    const headers = { authorization: `Bearer ${key}` };
    const answered = fetch(`${url}/pets`, { headers })
      .then(() => true, () => false);
    const hasCome = async () => (await requests()).length === 1;
    await until("the request has come", hasCome);
    assert.equal(await program.end(signal), 0);
    assert.equal(await answered, false);
    assert.equal(program.stderr(), "");
  });
}

onEveryRuntime.test("--after-removal shows the day when getPet is gone", async (start) => {
  const { send } = await start("--pets 1 --after-removal --quiet");
  assert.match(
    await send("GET /v1/pets/1"),
    /^HTTP\/1.1 404 [^]*was removed/,
  );
});

test("a file that is not JSON gets one line, although V8 quotes several", async (t) => {
  const path = join(newFolder(t), "pets.json");
  writeFileSync(path, '[\n{"name":"Rex",\n "categoryId":x}\n]');
  const program = launchSandbox(["--pets", path]);
  assert.equal(await program.exited, 2);
  assert.match(program.stderr(), /^Cannot read --pets .*: .+\nSee --help\n$/);
});

onEveryRuntime.test("--with-stdin ends it when standard input is closed; without it, it goes on", async (start) => {
  const { program } = await start("--with-stdin --quiet");
  assert.equal(await program.endInput(), 0);
  const lasting = await start("--quiet");
  const ended = lasting.program.endInput();
  assert.equal((await lasting.drive("GET")).status, 200);
  assert.equal(await lasting.program.end(), 0);
  assert.equal(await ended, 0);
});

onEveryRuntime.test(
  "the sandbox keeps serving if the reader of its standard error has gone",
  async (_start, runtime) => {
    const through = ["sh", "-c", '{ "$@" 2>&1 >&3 | :; } 3>&1', "sh"];
    const { drive, program } = await startSandbox(
      "--with-stdin",
      runtime,
      through,
    );
    assert.equal((await drive("GET")).status, 200);
    assert.equal(await program.endInput(), 0);
  },
);

onEveryRuntime.test("options choose keys, pets, names and the most pets", async (start) => {
  const { url, control, key, drive, send } = await start(
    "--key k --key other --pets 1 --max-pets 2 --name localhost --name store --host 127.0.0.1",
  );
  assert.match(url, /^http:\/\/localhost:\d+\/v1$/);
  assert.match(control, /^http:\/\/localhost:/);
  assert.equal(key, "k");
  const named = await send("GET /sandbox\nX: y");
  assert.match(named, /"pets":1/);
  const other = await send("GET /v1/pets", undefined, "other");
  assert.match(other, /^HTTP\/1.1 200 /);
  assert.equal((await drive("PUT", "/pets", 3)).status, 400);
});

test("a host that is no loopback is said to be open to all; its names may drive it", async (t) => {
  const start = starting(t);
  const { url, port, program } = await start(
    "--host 0.0.0.0 --name store.example",
  );
  assert.equal(url, `http://store.example:${port}/v1`);
  const named = rawRequest("GET /sandbox", [`Host: Store.example:${port}`]);
  assert.equal(await statusOf(port, named), 200);
  assert.equal(await program.end(), 0);
  assert.match(
    program.stderr(),
    /^It listens on 0\.0\.0\.0, so it is open to everyone who can reach this machine\.$/m,
  );
});

test("--pets reads the pets of a file, exactly", async (t) => {
  const file = join(newFolder(t), "pets.json");
  writeFileSync(
    file,
    '[{"id":9007199254740993,"name":"Ivy","categoryId":-9223372036854775808}]',
  );
  const { send } = await starting(t)(["--pets", file]);
  assert.match(
    await send("GET /v1/pets"),
    /\{"id":9007199254740993,"name":"Ivy","categoryId":-9223372036854775808,/,
  );
});

/** Wrong arguments, and what is said about them. */
const WRONG = [
  ["--port 65536", /^Cannot read --port: .* from 0 to 65535, not "65536"$/],
  ["--port", /^Option '--port <value>' argument missing$/],
  ["--delay 1s", /^Cannot read --delay: it must be an integer from 0 to /],
  ["--max-pets -1", /^Option '--max-pets' has no value; write '--max-pets=-X'/],
  ["--pets 4 --max-pets 3", /^Cannot read --pets 4: .* at most 3$/],
  ["--pets none.json", /^Cannot read --pets none\.json: there is no such /],
  ["--pets .", /: it is not a regular file$/],
  ["--host *", /^Cannot read --host: /],
  ["--name http://a", /^Cannot read --name: .* ports, not "http:\/\/a"$/],
  ["--key a\u00e9", /^Cannot read --key: /],
  ["--key a --key b\u00e9", /^Cannot read --key: API key 2 of 2 must be /],
  ["--with-stdin=1", /^Option '--with-stdin' does not take an argument$/],
  ["--prot 1", /^Unknown option '--prot'$/],
] as const;
for (const [args, message] of WRONG) {
  test(`sandbox ${args} is refused`, async () => {
    const error = { name: "UsageError", message };
    await assert.rejects(runSandbox(args.split(" ")), error);
  });
}

test("--pets reads a file with a byte order mark, as Windows writes it", async (t) => {
  const file = join(newFolder(t), "pets.json");
  writeFileSync(file, '\ufeff[{"name":"Ivy","categoryId":1}]\r\n');
  const { send } = await starting(t)(["--pets", file]);
  assert.match(await send("GET /v1/pets"), /\{"id":1,"name":"Ivy",/);
});

/** Texts of files that have no pets, one character for each byte, and what is said about them. */
const NO_PETS = {
  "[\n7,,8]": /^Cannot read --pets [^:]*: [^]*JSON/,
  '[{"name":"A","categoryId":1},{"name":7,"categoryId":1}]':
    /^Cannot read --pets [^:]*: pet 2: name must be a string$/,
  '[{"name":"Zo\xeb","categoryId":1}]':
    /^Cannot read --pets [^:]*: it is not UTF-8 /,
  [" ".repeat(16 * 1024 * 1024 + 1)]: /: it has more than 16777216 bytes$/,
};
for (const [text, message] of Object.entries(NO_PETS)) {
  test(`--pets refuses a file with ${JSON.stringify(text.slice(0, 60))}`, async (t) => {
    const file = join(newFolder(t), "pets.json");
    writeFileSync(file, text, "latin1");
    const error = { name: "UsageError", message };
    await assert.rejects(runSandbox(["--pets", file]), error);
  });
}

onEveryRuntime.test(
  "a port in use gets a sentence and the exit status 1",
  async (start, runtime) => {
    const { port } = await start("--quiet");
    const second = launchSandbox(`--port ${port}`, runtime);
    assert.equal(await second.exited, 1);
    assert.equal(
      second.stderr(),
      `Cannot listen on 127.0.0.1:${port}: the address is in use; choose another port with --port\n`,
    );
  },
);

test("--help names each option", async () => {
  const program = launchSandbox("--help");
  assert.equal(await program.exited, 0);
  const options = "port host name key pets max-pets delay with-stdin quiet"
    .split(" ");
  for (const option of options) {
    assert.match(program.stdout(), new RegExp(`^  --${option} `, "m"), option);
  }
});

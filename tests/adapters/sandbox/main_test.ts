/** The program, on each runtime. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  findRuntimes,
  RUNTIME,
  type Runtime,
  testUnless,
} from "../../support/runtime.ts";
import { inNewFolder, newFolder } from "../../support/temporary_directory.ts";
import { launchSandbox, startSandbox } from "./sandbox_program.ts";

function onEvery(
  title: string,
  check: (runtime: Runtime) => Promise<void>,
): void {
  for (const runtime of findRuntimes()) {
    const { name, missing } = runtime;
    test(`${name}: ${title}`, { skip: missing ?? false }, () => check(runtime));
  }
}

onEvery(
  "standard output is one line of JSON, and what people read is on standard error",
  async (runtime) => {
    const { url, key, control, program, send } = await startSandbox([
      "--pets",
      "2",
    ], runtime);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    assert.deepEqual([key, control], ["test", url.replace("/v1", "/sandbox")]);
    await send("GET /v1/pets");
    assert.equal(await program.end(), 0);
    assert.equal(
      program.stdout(),
      `${JSON.stringify({ url, key, control })}\n`,
    );
    assert.match(
      program.stderr(),
      new RegExp(
        `^\nA sandbox, for tests only: .*\n\n    curl .* ${url}/pets\n    curl .* -d `,
      ),
    );
  },
);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  onEvery(`${signal} ends it, although clients wait`, async (runtime) => {
    const { program, url, key } = await startSandbox([
      "--delay",
      "60000",
      "--quiet",
    ], runtime);
    const headers = { authorization: `Bearer ${key}` };
    const waiting = assert.rejects(fetch(`${url}/pets`, { headers }));
    assert.equal(await program.end(signal), 0);
    await waiting;
    assert.equal(program.stderr(), "");
  });
}

onEvery(
  "--with-stdin ends it when standard input is closed; without it, it goes on",
  async (runtime) => {
    const { program } = await startSandbox(
      ["--with-stdin", "--quiet"],
      runtime,
    );
    assert.equal(await program.endInput(), 0);
    const lasting = await startSandbox(["--quiet"], runtime);
    const ended = lasting.program.endInput();
    assert.equal((await lasting.drive("GET")).status, 200);
    assert.equal(await lasting.program.end(), 0);
    assert.equal(await ended, 0);
  },
);

onEvery(
  "options choose key, pets, names and the most pets",
  async (runtime) => {
    const args =
      "--key k --pets 1 --max-pets 2 --name localhost --name store --host 127.0.0.1";
    const { url, control, key, drive, send, program } = await startSandbox(
      args.split(" "),
      runtime,
    );
    assert.match(url, /^http:\/\/localhost:\d+\/v1$/);
    assert.match(control, /^http:\/\/localhost:/);
    assert.equal(key, "k");
    const named = await send("GET /sandbox\nX: y");
    assert.match(named, /"pets":1/);
    assert.equal((await drive("PUT", "/pets", 3)).status, 400);
    await program.end();
  },
);

test("a host that is no loopback is said to be open to all; its names may drive it", async () => {
  const { url, program } = await startSandbox([
    "--host",
    "0.0.0.0",
    "--name",
    "store.example",
  ]);
  assert.match(
    program.stderr(),
    /^It listens on 0\.0\.0\.0, so it is open to everyone who can reach this machine\.$/m,
  );
  const { port } = new URL(url);
  assert.equal(url, `http://store.example:${port}/v1`);
  const { get } = await import("node:http");
  const status = await new Promise((resolve) =>
    get({
      host: "127.0.0.1",
      port,
      path: "/sandbox",
      headers: { host: `Store.example:${port}` },
    }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
  );
  assert.equal(status, 200);
  await program.end();
});

test("--pets reads the pets of a file, exactly", async (t) => {
  const file = join(newFolder(t), "pets.json");
  writeFileSync(file, '[{"name":"Ivy","categoryId":-9223372036854775808}]');
  const { send, program } = await startSandbox(["--pets", file]);
  assert.match(
    await send("GET /v1/pets"),
    /\{"id":1,"name":"Ivy","categoryId":-9223372036854775808,/,
  );
  await program.end();
});

onEvery(
  "wrong arguments get a sentence on standard error, and the exit status 2",
  (runtime) =>
    inNewFolder(async (folder) => {
      const file = (name: string, text: string) => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      const wrong: readonly (readonly [string, RegExp])[] = [
        [
          "--port 65536",
          /^Cannot read --port: it must be an integer from 0 to 65535, not "65536"$/m,
        ],
        ["--port", /^Option '--port <value>' argument missing$/m],
        [
          "--delay 1s",
          /^Cannot read --delay: it must be an integer from 0 to /m,
        ],
        ["--max-pets -1", /^Option '--max-pets' argument is ambiguous/m],
        ["--pets 4 --max-pets 3", /^Cannot read --pets 4: .* at most 3$/m],
        [
          "--pets none.json",
          /^Cannot read --pets none\.json: there is no such file$/m,
        ],
        [`--pets ${folder}`, /: there is no such file$/m],
        [`--pets ${file("a.json", "[")}`, /: it cannot be read as JSON$/m],
        [
          `--pets ${file("b.json", "{}")}`,
          /: it must be an array of NewPet, or their number/m,
        ],
        [
          `--pets ${
            file(
              "c.json",
              '[{"name":"A","categoryId":1},{"name":7,"categoryId":1}]',
            )
          }`,
          /: pet 2: name must be a string$/m,
        ],
        [
          `--pets ${file("d.json", " ".repeat(16 * 1024 * 1024 + 1))}`,
          /: it has more than 16777216 bytes$/m,
        ],
        ["--host *", /^Cannot read --host: /m],
        [
          "--name http://a",
          /^Cannot read --name: it must be names of hosts, not "http:\/\/a"$/m,
        ],
        ["--key a\u00e9", /^Cannot read --key: /m],
        [
          "--with-stdin=1",
          /^Option '--with-stdin' does not take an argument$/m,
        ],
        [
          "--prot 1",
          /^Unknown option '--prot'$/m,
        ],
        ["pets", /^sandbox takes only options, not pets$/m],
      ];
      await Promise.all(wrong.map(async ([args, message]) => {
        const program = launchSandbox(args.split(" ").filter(Boolean), runtime);
        assert.equal(await program.exited, 2, args);
        assert.match(program.stderr(), message);
        assert.equal(program.stdout(), "");
      }));
    }),
);

onEvery(
  "a port in use gets a sentence and the exit status 1",
  async (runtime) => {
    const { url, program } = await startSandbox(["--quiet"], runtime);
    const { port } = new URL(url);
    const second = launchSandbox(["--port", port], runtime);
    assert.equal(await second.exited, 1);
    assert.equal(
      second.stderr(),
      `Cannot listen on 127.0.0.1:${port}: the address is in use; choose another port with --port\n`,
    );
    await program.end();
  },
);

testUnless(RUNTIME !== "deno" && "it is the same on each runtime")(
  "--help names each option",
  async () => {
    const program = launchSandbox(["--help"]);
    assert.equal(await program.exited, 0);
    for (
      const option of [
        "port",
        "host",
        "name",
        "key",
        "pets",
        "max-pets",
        "delay",
        "with-stdin",
        "quiet",
      ]
    ) {
      assert.match(program.stdout(), new RegExp(`^  --${option} `, "m"));
    }
  },
);

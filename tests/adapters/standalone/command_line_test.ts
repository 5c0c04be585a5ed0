/** Arguments of the program, right and wrong. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { missingPackage } from "../../../adapters/standalone/command_line.ts";
import { readConfig } from "../../../adapters/standalone/config.ts";
import { commandLine } from "../../support/runtime.ts";
import {
  MAIN,
  run,
  runToEnd,
  taskFlags,
  testInFolder as it,
} from "./program.ts";

for (
  const [command, message, env = {}, code = 2] of [
    ["nonsense", /^There is no command "nonsense"\nSee --help\n$/],
    [
      "start --prot 1",
      /^There is no option --prot, only --host, --port, --help\nSee --help\n$/,
    ],
    ["start foo", /^start takes options only, not foo\n/],
    ["start --port", /^--port needs a value$/m],
    ["start --port --host ::1", /^--port needs a value$/m],
    ["start --host=", /^--host needs a value$/m],
    [
      "start --port 70000",
      /Cannot read --port: it must be an integer from 0 to 65535/,
    ],
    ["start", /^Cannot read PORT: it must be an integer from 0 to /, {
      PORT: "70000",
    }, 1],
    [
      "start --port 0 --host nosuchhost.invalid",
      /^Cannot listen on nosuchhost\.invalid:0: .*(?:unknown|not known).*\n$/,
      { DATABASE_URL: "memory:" },
      1,
    ],
    [
      "start --port 0",
      /^.*: the directory .*missing does not exist; create it first\n$/,
      { DATABASE_URL: "sqlite:missing/pets.db" },
      1,
    ],
    [
      "start --port 0",
      /^Cannot read DATABASE_URL: .*\n$/,
      { DATABASE_URL: "postgres://me:sesame@:x/pets" },
      1,
    ],
    ["copy a b -x", /^There is no option -x, only --help$/m],
    ["copy a b c", /^copy takes two addresses: copy FROM TO\n/],
    ["copy sqlite:a.db", /^copy takes two addresses: copy FROM TO\n/],
    ["copy memory: sqlite:b", /^Cannot read FROM: it must be sqlite:PATH /],
    ["copy sqlite:a memory:", /^Cannot read TO: it must be sqlite:PATH /],
    [
      "copy postgres://u:sesame@127.0.0.1:1/d?sslmode=maybe sqlite:b",
      /^Cannot read FROM: /,
    ],
    ["keys list --toString", /^There is no option --toString, /],
    ["keys list --json=yes", /^--json takes no value$/m],
    ["keys list --quiet", /^--quiet is for keys issue, without --json/],
    ["keys issue a --quiet --json", /^--quiet is for keys issue/],
    ["keys issue ", /name of a key must not be empty/],
    ["keys revoke one", /^The id of a key must be .* not "one"/],
    ["keys revoke 0", /^The id of a key must be .* not "0"/],
    ["keys rotate", /issue NAME/],
    ["keys list", /no database at petstore\.db/, {}, 1],
    ["keys list", /DATABASE_URL is memory:/, { DATABASE_URL: "memory:" }, 1],
  ] as const
) {
  it(`the program refuses "${command}" because of ${message}, and leaves no file behind`, async (cwd) => {
    const run = await runToEnd(command.split(" "), { cwd, env });
    assert.match(run.stderr, message);
    assert.doesNotMatch(run.stderr, /^ +at |sesame/m);
    assert.deepEqual([run.code, run.stdout, readdirSync(cwd)], [code, "", []]);
  });
}

for (
  const line of ["--help", "start --help", "keys --help", "copy a -h", "copy"]
) {
  it(`${line} shows its usage and an example`, async (cwd) => {
    const { code, stdout } = await runToEnd(line.split(" "), { cwd });
    assert.equal(code, 0);
    const [, program] =
      /^Usage: +(deno task|\w+ [\w/]+main\.ts) /m.exec(stdout) ?? [];
    const command = line.startsWith("-") ? "start" : line.split(" ")[0];
    assert.ok(stdout.includes(`\nExample:  ${program} ${command}`), stdout);
  });
}

it("start --help shows the port and the address of readConfig", async (cwd) => {
  const { stdout } = await runToEnd(["start", "--help"], { cwd });
  const { host, port } = readConfig({});
  for (
    const text of [`(${port}; `, `(${host}; `, `  PORT               ${port}; `]
  ) {
    assert.ok(stdout.includes(text), text);
  }
});

it("--version prints the version in deno.json", async (cwd) => {
  const config = new URL("../../../deno.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(config, "utf8"));
  const { code, stdout } = await runToEnd(["--version"], { cwd });
  assert.deepEqual([code, stdout], [0, `${version}\n`]);
  const more = await runToEnd(["--version", "start"], { cwd });
  assert.deepEqual([more.code, more.stdout], [2, ""]);
});

it("judge --help shows its usage and an example", async (cwd) => {
  const path = fileURLToPath(new URL("../../judge/main.ts", import.meta.url));
  const program = run([...commandLine(path, ["-E"]), "--help"], { cwd });
  assert.equal(await program.exited, 0);
  assert.match(program.stdout(), /^Usage: .* judge ADDRESS .*\nExample: /m);
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

test("missingPackage knows the words of Node and Bun, and says what to run", () => {
  const words = [
    "Cannot find package 'valibot' imported from /srv/core/pets/pet.ts",
    'Cannot find package "valibot" from "/srv/core/pets/pet.ts"',
    "Cannot find module 'valibot' from '/srv/core/pets/pet.ts'",
  ];
  for (const each of words) {
    const message = missingPackage(new Error(each)) ?? "";
    assert.match(message, /package valibot is not .* run "npx .* install"/);
  }
  const ownFile = "Cannot find module '/srv/core/gone.ts' imported from /srv";
  assert.equal(missingPackage(new Error(ownFile)), undefined);
});

/** Arguments of the program, right and wrong. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { test } from "node:test";
import { taskCommand } from "../../../adapters/program/command_line.ts";
import { readConfig, SETTINGS } from "../../../adapters/standalone/config.ts";
import { runCopy } from "../../../adapters/standalone/copy.ts";
import { runKeys } from "../../../adapters/standalone/keys.ts";
import { runJudge } from "../../judge/main.ts";
import { pathOf, readText } from "../../support/repository.ts";
import { commandLine, RUNTIME, testUnless } from "../../support/runtime.ts";
import { MAIN, runMain, taskFlags } from "../../support/standalone.ts";
import { freePort, portOf, run } from "../../support/process.ts";
import { newFolder } from "../../support/temporary_directory.ts";

/** What the program says to a command line, and to one in an environment. */
const REFUSED = [
  ["strat", /^Unknown command "strat"\nSee --help\n$/],
  ["Key list", /^Unknown command "Key"\n/],
  ["\u009b", /^Unknown command "\uFFFD"\n/],
  ["start --prot 1", /^Unknown option '--prot'\nSee --help\n$/],
  ["start foo", /^Unexpected argument 'foo'\. /],
  ["start --port", /^Option '--port <value>' argument missing$/m],
  [
    "start --port --host ::1",
    /^Option '--port' has no value; write '--port=-X' .* a dash\nSee --help\n$/,
  ],
  ["start --host=", /^Option '--host' is empty$/m],
  ["start --port 70000", /^Cannot read --port: .* from 0 to 65535, not /],
  [
    "start --port 0 --host nosuchhost.invalid",
    /^Cannot listen on nosuchhost\.invalid:0: the host is unknown\n$/,
    { DATABASE_URL: "memory:" },
  ],
  [
    "start --port 0",
    /^.*: the directory .*missing does not exist; create it first\n$/,
    { DATABASE_URL: "sqlite:missing/pets.db" },
  ],
  ["copy sqlite:a.db sqlite:b.db", /: there is no such file\n$/, {}],
  ["--version start", /^--version takes no arguments\n/],
  ["keys issue a --quiet --json", /^--quiet is for keys issue/],
  ["keys issue ", /^Cannot read NAME: it must not be empty\n/],
  ["keys issue two words", /issue NAME \(in quotes if it has spaces\)/],
  ["keys list", /^Cannot find a database at sqlite:\/.*\/petstore\.db: /, {}],
  ["start", /^Cannot read PETSTORE_HOST: .*, not "\*"\n$/, {
    PETSTORE_HOST: "*",
  }],
  ["start --host *", /^Cannot read --host: .*, not "\*"\n/],
  ["keys list", /DATABASE_URL is memory:/, { DATABASE_URL: "memory:" }],
] as const;
for (const [command, message, env] of REFUSED) {
  test(`"${command}" is refused, and leaves no file behind`, async (t) => {
    const cwd = newFolder(t);
    const ended = await runMain(command.split(" "), { cwd, env: env ?? {} });
    const { code, stdout, stderr } = ended;
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /^ +at |sesame/m);
    assert.deepEqual([stdout, readdirSync(cwd)], ["", []]);
    assert.equal(code, env === undefined ? 2 : 1);
  });
}

test("start says which setting has a port that is in use", async (t) => {
  const blocker = createServer();
  const port = await portOf(blocker);
  t.after(() => blocker.close());
  const cases = [
    [["--port", `${port}`], {}, "choose another port with --port"],
    [
      ["--port", "0"],
      { ADMIN_PORT: `${port}` },
      "change ADMIN_PORT or ADMIN_HOST",
    ],
  ] as const;
  for (const [args, env, hint] of cases) {
    const cwd = newFolder(t);
    const { code, stderr } = await runMain(["start", ...args], { cwd, env });
    const failure = `Cannot listen on 127.0.0.1:${port}: the address is in use`;
    assert.deepEqual([code, stderr], [1, `${failure}; ${hint}\n`], hint);
  }
});

const COMMANDS: Readonly<
  Record<string, (args: readonly string[]) => Promise<void>>
> = {
  keys: runKeys,
  copy: runCopy,
  judge: (args) => runJudge(["--key", "k", ...args]),
};

/** Wrong arguments, and what a command says before it does anything. */
const WRONG = [
  ["keys list --toString", /^Unknown option '--toString'$/],
  ["keys list --json=yes", /^Option '--json' does not take an argument$/],
  ["keys list --quiet", /^--quiet is for keys issue, without --json/],
  ...["90", "0d", "3651d", "1.5d", "-1d", "90D", "1d2d"].map((days) =>
    [
      `keys list --expires=${days}`,
      /^Cannot read --expires: it must be days, such as 90d, up to 3650d, not "/,
    ] as const
  ),
  [
    "judge http://localhost:65536/v1",
    /^judge takes a whole .* address, with a port up to 65535/,
  ],
  ["keys list --expires", /^Option '--expires <value>' argument missing$/],
  ["keys list --expires 1d", /^--expires is for keys issue$/],
  ["keys revoke", /issue NAME/],
  ["keys revoke one", /^Cannot read KEY: it is neither an id nor an issued /],
  ["keys revoke 0", /^Cannot read ID: it must be an integer from 1 to /],
  ["keys rotate 1", /issue NAME/],
  [
    "copy --ids-from 0 a b",
    /^Cannot read --ids-from: it must be an id, from 1 /,
  ],
  ["copy --ids-from 9223372036854775808 a b", /^Cannot read --ids-from: /],
  ["copy --ids-from", /^Option '--ids-from <value>' argument missing$/],
  ["copy a b -x", /^Unknown option '-x'$/],
  ["copy a b c", /^copy takes two addresses: copy FROM TO$/],
  ["copy sqlite:a.db", /^copy takes two addresses: copy FROM TO$/],
  ["copy memory: sqlite:b", /^Cannot read FROM: it must be sqlite:PATH /],
  ["copy sqlite:a memory:", /^Cannot read TO: it must be sqlite:PATH /],
  [
    "copy postgres://u:sesame@127.0.0.1:1/d?sslmode=maybe sqlite:b",
    /^Cannot read FROM: /,
  ],
  ["judge ", /takes one address, such as/],
  ["judge ftp://localhost/v1", /takes a whole http: or https: address/],
  ["judge localhost:3000/v1", /takes a whole http: or https: address/],
  ["judge http://localhost/v1?a", /without a user, a query and a fragment/],
  ["judge http://u:sesame@localhost:1/v1", /without a user/],
  ["judge --json --junit http://localhost:1/v1", /--json or --junit, not both/],
  ["judge --key a\nsesame http://localhost:1/v1", /key must be visible ASCII/],
] as const;
for (const [command, message] of WRONG) {
  test(`${JSON.stringify(command)} is refused`, async () => {
    const [name = "", ...args] = command.split(" ");
    const running = COMMANDS[name]?.(args) ?? Promise.resolve();
    await assert.rejects(running, ({ name, message: said }: Error) => {
      assert.equal(name, "UsageError");
      assert.match(said, message);
      assert.doesNotMatch(said, /sesame/);
      return true;
    });
  });
}

const program = RUNTIME === "deno"
  ? taskCommand(process.execPath)
  : `${RUNTIME} adapters/standalone/main.ts`;
for (
  const [line, command] of Object.entries({
    "--help": "start",
    "-h": "start",
    "start --help": "start",
    "keys": "keys",
    "keys list -h": "keys",
    "copy": "copy",
    "copy a -h": "copy",
  })
) {
  test(`${line} shows its usage and an example`, async (t) => {
    const cwd = newFolder(t);
    const { code, stdout } = await runMain(line.split(" "), { cwd });
    assert.equal(code, 0);
    const lines = `\nUsage: +${program} .*\nExample: +${program} ${command}`;
    assert.match(stdout, RegExp(lines));
  });
}

test("a task is named by npx for those who have Deno only through it", () => {
  const cache = "/root/.npm/_npx/7a40/node_modules/deno/deno";
  assert.equal(taskCommand(cache), "npx -y deno@2.9.6 task");
  assert.equal(taskCommand("/root/.deno/bin/deno"), "deno task");
});

test("help lists the commands, sandbox, judge and exam too if they are tasks", async (t) => {
  const cwd = newFolder(t);
  const { stdout } = await runMain(["help"], { cwd });
  const tasks = RUNTIME === "deno"
    ? "  sandbox .*\n  judge .*\n  exam .*\n"
    : "";
  assert.match(stdout, RegExp(`\n  copy .*\n${tasks}  version `));
});

test("start --help shows the settings, and the defaults of --port and --host", async (t) => {
  const cwd = newFolder(t);
  const { stdout } = await runMain(["start", "--help"], { cwd });
  const { host, port } = readConfig({});
  assert.ok(stdout.includes(`(${port}; `) && stdout.includes(`(${host}; `));
  assert.ok(stdout.endsWith(SETTINGS));
});

test("version and --version print the version in deno.json", async (t) => {
  const cwd = newFolder(t);
  const { version } = JSON.parse(readText("deno.json"));
  for (const word of ["version", "--version"]) {
    const { code, stdout } = await runMain([word], { cwd });
    assert.deepEqual([code, stdout], [0, `${version}\n`], word);
  }
});

const JUDGE = pathOf("tests/judge/main.ts");

test("judge --help shows its usage and an example", async () => {
  const { code, stdout } = await run([...commandLine(JUDGE, ["-E"]), "--help"]);
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: .* judge ADDRESS .*\nExample: /m);
});

test("judge says that nothing listens at an address", async () => {
  const address = `http://127.0.0.1:${await freePort()}/v1`;
  const flags = RUNTIME === "deno" ? ["--allow-net", "--allow-env"] : [];
  const judge = commandLine(JUDGE, flags);
  const { code, stdout } = await run([...judge, "--key", "k", address]);
  assert.equal(code, 1);
  const said =
    /^Fix first: Nothing listens at this address: .*\nNo create succeeded/m;
  assert.match(stdout, said);
});

const onLinux = {
  test: testUnless(
    process.platform !== "linux" && "/dev/full is Linux's",
  ),
};

onLinux.test("a command whose output cannot be written says so, and names the key it issued", async (t) => {
  const cwd = newFolder(t);
  const issue = ["keys", "issue", "demo", "--quiet"];
  const full = (command: string) => `${command} >/dev/full`;
  // The command begins when nobody reads any more.
  const gone = (command: string) =>
    `trap "" PIPE; { while echo; do :; done 2>/dev/null; ${command}; } | true`;
  const cases = [
    [["--help"], full, /^.*no space left.*\n$/i],
    [issue, full, /^Key 1 is valid, but .* keys revoke 1\n.*no space left/im],
    [issue, gone, /^Key 2 is valid, but .* keys revoke 2\n.*EPIPE/m],
  ] as const;
  for (const [args, output, message] of cases) {
    const command = [...commandLine(MAIN, taskFlags("keys")), ...args];
    // A shell returns the exit code of the last command of a pipe.
    const line = output('{ "$0" "$@"; echo "exited with $?" >&2; }');
    const { stderr } = await run(["sh", "-c", line, ...command], { cwd });
    const [, told = ""] = /^([^]*)exited with 1\n$/.exec(stderr) ?? [];
    assert.match(told, message);
  }
});

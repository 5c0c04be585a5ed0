/**
 * docs/clients.md is true: its commands generate clients and build the programs in
 * docs/examples/clients/, which add a pet to a real server and list all pets, page by page. Neither
 * the generators nor the compilers warn about anything.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { findRuntime, skipping } from "../support/runtime.ts";
import { newFolder } from "../support/temporary_directory.ts";
import { QUIET, startMain } from "../support/standalone.ts";

const DOCS = new URL("../../docs/", import.meta.url);
const timeout = 1_200_000; // packages are fetched and compiled

/**
 * By heading: the program's name, what its tools print about themselves, and commands that look up
 * a package and check all code.
 */
const CLIENTS: Readonly<
  Record<string, [string, string, RegExp, string, string]>
> = {
  Go: [
    "main.go",
    "go version",
    /go1\.(2[5-9]|[3-9]\d)/,
    "go list -m golang.org/x/text@latest",
    "go vet .",
  ],
  Python: [
    "main.py",
    "python3 -m venv --help",
    /usage/,
    "python3 -m pip index versions six",
    ".venv/bin/python -W error -m compileall -q pet-store-client main.py",
  ],
  TypeScript: [
    "main.mts",
    "node --version",
    /v(2[4-9]|22)/,
    "npm view typescript version",
    `"${process.execPath}" check --quiet main.mts`,
  ],
};

const deno = findRuntime("deno");

/**
 * Makes a test from `work`, which receives a folder, and documents with the port of a running
 * server.
 */
const onServer =
  (work: (cwd: string, read: (path: string) => string) => void) =>
  async (t: TestContext) => {
    const { port } = await startMain(t, { runtime: deno, env: QUIET });
    const read = (path: string) =>
      readFileSync(new URL(path, DOCS), "utf8").replaceAll("8000", `${port}`);
    work(newFolder(t), read);
  };

for (
  const [name, [file, probe, right, lookUp, check]] of Object.entries(CLIENTS)
) {
  const why = !right.test(run(probe).stdout)
    ? `"${probe}" shows that it is too old, or missing`
    : run(lookUp).status !== 0 && "its packages cannot be reached";
  const skip = skipping(why && `No ${name} client is generated: ${why}`);

  test(
    `the ${name} client that docs/clients.md generates is exact, and follows Link`,
    { skip, timeout },
    onServer((cwd, read) => {
      const page = read("clients.md");
      const section = page.slice(page.indexOf(`\n## ${name}\n`));
      const [, commands = ""] = /^```sh\n([^]*?)^```$/m.exec(section) ?? [];
      const program = read(`examples/clients/${file}`);
      writeFileSync(join(cwd, file), program);
      const built = run(commands, cwd);
      assert.equal(built.status, 0, built.stderr);
      const said = `${built.stdout}${built.stderr}`.split("\n");
      const warnings = said.filter((line) => /warn/i.test(line));
      // npm's own are about its settings and packages.
      assert.deepEqual(warnings.filter((line) => !/^npm warn/.test(line)), []);
      const [last = ""] = commands.match(/.+\n$/) ?? [];
      const [, category] = program.match(/"Rex"\D*(\d+)/) ?? [];
      const listed = `1 Rex ${category}\n2 Rex ${category}\n`; // two pages
      assert.equal(run(last, cwd).stdout, listed);
      const refused = run(last.replace("secret", "wrong"), cwd);
      assert.notEqual(refused.status, 0);
      assert.match(refused.stderr, /\bunauthorized\b/);
      const { status, stdout, stderr } = run(check, cwd);
      assert.deepEqual([status, stdout, stderr], [0, "", ""]);
    }),
  );
}

const GENERATOR = "npx -y @openapitools/openapi-generator-cli@2.41.0";
const missing = run("java -version && go version").status !== 0
  ? "it needs Java and Go"
  : run(`${GENERATOR} version`).status !== 0 &&
    "its packages cannot be reached";
const skip = skipping(
  missing && `No OpenAPI-Generator client is generated: ${missing}`,
);
test(
  "the Go client of OpenAPI Generator compiles as docs/clients.md says",
  { skip, timeout },
  onServer((cwd, read) => {
    const [, commands = ""] =
      /^```sh\n([^`]*generate -g go [^`]*)^```$/m.exec(read("clients.md")) ??
        [];
    const built = run(commands, cwd);
    assert.equal(built.status, 0, built.stderr);
  }),
);

function run(script: string, cwd?: string) {
  return spawnSync("bash", ["-ec", script], { cwd, timeout, encoding: "utf8" });
}

/**
 * docs/clients.md is true: its commands generate clients and build the programs in
 * docs/examples/clients/, which add a pet and list all pets, page by page and to the last digit, and
 * say why a request is refused. Neither the generators nor the compilers warn about anything.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { readText } from "../support/repository.ts";
import { findRuntime, skipping } from "../support/runtime.ts";
import { newFolder } from "../support/temporary_directory.ts";
import {
  type RunningSandbox,
  startSandbox,
} from "../adapters/sandbox/sandbox_program.ts";

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

/** What a service or a proxy may answer, and what a program says then. */
const REFUSALS = [
  [{ status: 503 }, /^.*service_unavailable: The sandbox was told/],
  [
    {
      status: 502,
      headers: { "content-type": "text/html" },
      body: "<h1>Bad Gateway</h1>",
    },
    /^.*HTTP 502.*, not from the pet store\n/,
  ],
] as const;

const LARGE = 2n ** 53n + 1n;
const LARGE_PAGE = {
  status: 200,
  headers: {
    "content-type": "application/json",
    link: `<?limit=1&after=${LARGE}>; rel="next"`,
  },
  body: `[{"id":${LARGE},"name":"Rex","categoryId":-${LARGE},"status":"sold"}]`,
};

/**
 * Makes a test from `work`, which receives a folder, documents with the port of a sandbox, and the
 * sandbox.
 */
const onSandbox = (
  work: (
    cwd: string,
    read: (path: string) => string,
    sandbox: RunningSandbox,
  ) => void | Promise<void>,
) =>
async (t: TestContext) => {
  const args = "--key secret --with-stdin --quiet";
  const sandbox = await startSandbox(args, deno);
  t.after(sandbox.program.endInput);
  const { port } = sandbox;
  const read = (path: string) =>
    readText(`docs/${path}`).replaceAll("8000", `${port}`);
  await work(newFolder(t), read, sandbox);
};

for (
  const [name, [file, probe, right, lookUp, check]] of Object.entries(CLIENTS)
) {
  const why = !right.test(run(probe).stdout)
    ? `"${probe}" shows that it is too old, or missing`
    : run(lookUp).status !== 0 && "its packages cannot be reached";
  const skip = skipping(why && `No ${name} client is generated: ${why}`);

  test(
    `the ${name} program of docs/clients.md lists exactly, and stops if refused`,
    { skip, timeout },
    onSandbox(async (cwd, read, { tell, requests }) => {
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
      assert.deepEqual(
        warnings.filter((line) => !/^npm warn/.test(line)),
        [],
        name,
      );
      const [last = ""] = commands.match(/.+\n$/) ?? [];
      const [, category] = program.match(/"Rex"\D*(\d+)/) ?? [];
      const listed = `1 Rex ${category}\n2 Rex ${category}\n`; // two pages
      assert.equal(run(last, cwd).stdout, listed, name);
      for (const { method, headers } of await requests()) {
        if (method === "POST") assert.ok(headers["idempotency-key"], method);
      }
      const refused = run(last.replace("secret", "wrong"), cwd);
      assert.notEqual(refused.status, 0, name);
      assert.match(refused.stderr, /\bunauthorized\b/, name);
      for (const method of ["POST", "GET"]) {
        for (const [answer, reason] of REFUSALS) {
          await tell("POST", "/faults", { when: { method }, answer });
          const { status, stdout, stderr } = run(last, cwd);
          assert.match(stderr, reason, `${reason}`);
          assert.deepEqual([status, stdout], [1, ""], `${reason}`);
        }
      }
      const fault = { when: { method: "GET" }, answer: LARGE_PAGE };
      await tell("POST", "/faults", fault);
      assert.equal(run(last, cwd).stdout, `${LARGE} Rex -${LARGE}\n`, name);
      const next = (await requests()).at(-1)?.target;
      assert.equal(next, `/v1/pets?limit=1&after=${LARGE}`, name);
      const { status, stdout, stderr } = run(check, cwd);
      assert.deepEqual([status, stdout, stderr], [0, "", ""], name);
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
  onSandbox((cwd, read) => {
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

/**
 * The code blocks of the README and of `docs/` are true: `ts` is part of an example, and the examples
 * run; `console` is replayed; `sh` and the text around name tasks, files and headings that exist.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathOf, readText, ROOT } from "../support/repository.ts";
import {
  commandLine,
  missing,
  RUNTIME,
  skipping,
  testUnless,
} from "../support/runtime.ts";
import { startSandbox } from "../adapters/sandbox/sandbox_program.ts";
import { STATUS_OF } from "../contract/error_reply.ts";
import { atEnd } from "../support/at_end.ts";
import { freePort, run } from "../support/process.ts";
import { placeExample } from "../support/examples.ts";
import { newFolder } from "../support/temporary_directory.ts";
import {
  assertServes,
  NO_TERMINAL,
  runMain,
  startMain,
} from "../support/standalone.ts";

/** It also has the types of packages that the service does not need to run. */
const TYPES = "tests/deno.json";

/** The files in a folder with this ending, as paths from the root. */
function filesIn(folder: string, ending: string): readonly string[] {
  return readdirSync(pathOf(folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(ending)).sort();
}

const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...filesIn("docs", ".md"),
];
const examples = filesIn("docs/examples", ".ts")
  .filter((path) => !path.includes("/frameworks/")); // frameworks_slow.ts

/** A fenced code block. */
interface Block {
  readonly file: string;
  readonly language: string;
  readonly text: string;
}

// clients_slow.ts runs those of clients.md, some in other languages.
const blocks: readonly Block[] = documents.filter((file) =>
  file !== "docs/clients.md"
).flatMap((file) =>
  Array.from(
    readText(file).matchAll(/^```(.*)\n([^]*?)^```$/gm),
    ([, language = "", text = ""]) => ({ file, language, text }),
  )
);

function blocksOf(language: string): readonly Block[] {
  const found = blocks.filter((block) => block.language === language);
  assert.notEqual(found.length, 0);
  return found;
}

/** The languages of code blocks in these documents, besides ts, console and sh. */
const LANGUAGES: Readonly<Record<string, string>> = {
  "CONTRIBUTING.md": "|json",
  "docs/sandbox.md": "|toml|yaml",
  "docs/exam.md": "|python|text", // exam_slow.ts
};

test("code blocks are ts, console or sh; in three documents others too", () => {
  for (const { file, language, text } of blocks) {
    const known = RegExp(`^(?:ts|console|sh${LANGUAGES[file] ?? ""})$`);
    assert.match(language, known, `${file}: ${text}`);
  }
});

// ---- ts ----

/** The runtimes of each example that serves. */
const RUNS: Readonly<Record<string, readonly typeof RUNTIME[]>> = {
  "server.ts": ["deno", "bun"], // in a Worker: tests/lab/workers/worker_slow.ts
  "docs_page.ts": ["node"],
  "bun.ts": ["bun"],
  "node.ts": ["node"],
  "node_http.ts": ["node"],
};

/** The log line of a request to the example of layers, and the status after it. */
function layersLine(route: string | null, status: number): string {
  const time = "1970-01-01T00:00:00.000Z";
  const line = { time, method: "GET", route, status, ms: 0, id: "7" };
  return `${JSON.stringify(line)}\n${status} `;
}

/** The output of the examples that are not servers. */
const PRINTS: Readonly<Record<string, string>> = {
  "client_errors.ts":
    "API key is invalid: it is unknown, expired or revoked (unauthorized)\n",
  "hide_sold.ts":
    '[{"id":1,"name":"Rex","categoryId":1,"status":"available"}]\n',
  "layers.ts": `${
    [200, 200, 429].map((status) =>
      layersLine("/v1/pets", status) + (status === 429 ? "10" : "null")
    ).join(" petstore\n")
  } petstore
${layersLine("/readyz", 200)}null petstore
${layersLine(null, 503)}1 petstore
${layersLine("/metrics", 200)}null petstore
_count{http_route="/v1/pets",http_request_method="GET",http_response_status_code="429"} 1
`,
  "jwt_keys.ts": `Ann added pet 1
201 {"id":1,"name":"Rex","categoryId":1,"status":"available"}
201 {"id":1,"name":"Rex","categoryId":1,"status":"available"}
401 {"code":"unauthorized","message":"API key is invalid: it is unknown, expired or revoked","status":401}
`,
};

/** Examples with tests of their own. */
const RUN_ELSEWHERE: readonly string[] = [
  "course/mine.ts", // course_test.ts
  "course/mine_test.ts",
  "application_test.ts", // recipes_test.ts
  "client.ts", // tests/adapters/client/http_test.ts
  "clients/exam/petstore_client.ts", // exam_slow.ts
  "deno_deploy.ts", // deployment_slow.ts
  "exam/adapter.ts", // exam_slow.ts
  "lambda.ts", // recipes_test.ts
  "sandbox/deno_test.ts", // sandbox_slow.ts
  "sandbox/node_test.ts", // sandbox_slow.ts
  "service_worker.ts", // tests/lab/workers/service_worker_slow.ts
  "storage_contract.ts", // recipes_test.ts
  "worker.ts", // tests/lab/workers/worker_slow.ts
];

test("every example is run", () => {
  assert.deepEqual(
    examples.map((path) => path.replace("docs/examples/", "")),
    [...Object.keys({ ...RUNS, ...PRINTS }), ...RUN_ELSEWHERE].sort(),
  );
});

test("every ts and python block is part of an example, line for line", () => {
  const sources = [...examples, ...filesIn("docs/examples", ".py")]
    .map((path) => "\n" + readText(path));
  for (const { file, text } of ["ts", "python"].flatMap(blocksOf)) {
    if (file === "docs/tour.md") continue; // the next test
    const isThere = sources.some((source) => source.includes("\n" + text));
    assert.ok(
      isThere,
      `${file}: no example contains\n${text}`,
    );
  }
});

/** The formatter unindents blocks. */
const unindented = (text: string) => text.replaceAll(/^ +/gm, "");

test("the lines that docs/tour.md quotes are in the file that is named before them", () => {
  let path = "";
  const quoted = readText("docs/tour.md")
    .matchAll(
      /\]\(\.\.\/((?:core|adapters)\/[^)]*\.ts)\)|^```ts\n([^]*?)^```$/gm,
    );
  let count = 0;
  for (const [, named, lines] of quoted) {
    if (named !== undefined) path = named;
    else if (lines !== undefined) {
      const isThere = unindented(readText(path)).includes(unindented(lines));
      assert.ok(isThere, `${path} has no more\n${lines}`);
      count++;
    }
  }
  assert.ok(count > 5);
});

const notDeno = RUNTIME !== "deno" && "the documents are checked on Deno";
const onDeno = { test: testUnless(notDeno) };

onDeno.test("each function and class of an entry has an example", async () => {
  const { exports } = JSON.parse(readText("deno.json"));
  const entries = Object.values<string>(exports)
    .filter((path) => path !== "./core/kit.ts"); // its parts are shown together
  const command = [process.execPath, "doc", "--json", ...entries];
  const { stdout } = await run(command, { cwd: ROOT });
  const modules: Readonly<
    Record<string, { readonly symbols: Documented[] }>
  > = JSON.parse(stdout).nodes;
  const all = Object.values(modules).flatMap(({ symbols }) => symbols)
    .flatMap(({ name, declarations }) =>
      declarations.map((declaration) => ({ name, ...declaration }))
    ).filter(({ kind, declarationKind }) =>
      declarationKind === "export" && /^(?:function|class)$/.test(kind)
    );
  assert.ok(all.length > 20, `${all.length}`);
  const without = all.filter(({ jsDoc }) =>
    !jsDoc?.tags?.some(({ kind }) => kind === "example")
  ).map(({ name }) => name);
  assert.deepEqual(without, []);
});

/** A symbol as `deno doc --json` shows it. */
interface Documented {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly declarationKind: string;
    readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
  }[];
}

onDeno.test("the examples type-check", async () => {
  const flags = ["check", "--quiet", "--config", TYPES];
  const command = [process.execPath, ...flags, ...examples];
  const { code, stderr } = await run(command, { cwd: ROOT });
  assert.equal(code, 0, stderr);
});

for (const [file, runtimes] of Object.entries(RUNS)) {
  if (!runtimes.includes(RUNTIME)) continue;
  test(`docs/examples/${file} serves the pet store`, async (t) => {
    const cwd = newFolder(t);
    const port = String(await freePort());
    const toPort = (text: string) => text.replaceAll("8000", port);
    const program = placeExample(file, cwd, toPort);
    const config = ["--config", pathOf("deno.json")];
    const host = ["--host", "127.0.0.1", "--port", port];
    const command = file === "server.ts" && RUNTIME === "deno"
      ? [process.execPath, "serve", ...host, ...config, program]
      : commandLine(program, ["-A", ...config]);
    await assertServes(command, port, { cwd });
  });
}

for (const [file, expected] of Object.entries(PRINTS)) {
  test(`docs/examples/${file} prints what it should`, async (t) => {
    const cwd = newFolder(t);
    const flags = ["--quiet", "--config", pathOf(TYPES)];
    // The clocks of limits and of the log stand still, however slow the machine is.
    const stopped = (text: string) =>
      `performance.now = Date.now = () => 0;\n${text}`;
    const command = commandLine(placeExample(file, cwd, stopped), flags);
    const { code, stdout, stderr } = await run(command, { cwd });
    assert.deepEqual([code, stdout + stderr], [0, expected]);
  });
}

// ---- console ----

/** A command of a transcript, its output, and the white space after it. */
const STEP = /^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*?)(\n*)(?=\$ |$(?![^]))/gm;

/** Masks what differs from run to run. */
function masked(text: string): string {
  return text.replaceAll(/\bpet_\w{38}\b/g, "KEY")
    .replaceAll(/^date: .*$/gm, "date")
    .replaceAll(/^x-request-id: .*$/gm, "x-request-id")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, "DAY")
    // A server notes the use of a key when the next minute begins.
    .replaceAll(/TIME (?:DAY|-) +/g, "TIME USED ");
}

const { tasks, permissions }: {
  tasks: Readonly<Record<string, unknown>>;
  permissions: { default: { env: readonly string[] } };
} = JSON.parse(readText("deno.json"));
const noCurl = missing("curl");

testUnless(notDeno || noCurl || skipping(NO_TERMINAL))(
  "the transcripts are what the commands print",
  async (t) => {
    const cwd = newFolder(t);
    const surroundings = { cwd, env: { DATABASE_URL: "sqlite:petstore.db" } };
    const server = await startMain(t, { ...surroundings, isTerminal: true });
    // The README says to paste these first, and to write the key in them for KEY.
    const pasted = server.stderr().match(/(?<=^ {4})curl .*/gm) ?? [];
    const [key = ""] = /pet_\w+/.exec(pasted.join()) ?? [];
    let assignments = "";
    let sandbox = "";

    /**
     * Runs a command as printed, on the server above or on the sandbox, with a file instead of
     * PostgreSQL.
     */
    async function replay(command: string): Promise<string> {
      const [, variable, before = "", inner] =
        /^(\w+)="(.*)\$\((.*)\)"$/.exec(command) ?? [];
      if (inner !== undefined) {
        assignments += `${variable}="${before}${
          (await replay(inner)).trim()
        }"\n`;
        return "";
      }
      const [, task] = /^(?:npx -y deno@\S+|deno) task (?:-q )?(.*)$/
        .exec(command) ?? [];
      if (task !== undefined) {
        const args = Array.from(
          task.replace(/postgres:\S+/, "sqlite:moved.db")
            .matchAll(/"([^"]*)"|\S+/g),
          ([word, quoted]) => quoted ?? word,
        );
        const ended = await runMain(args, surroundings);
        // The text says that `keys` names the database; here it is in a temporary folder.
        return ended.stdout + ended.stderr.replace(/^Database: .*\n/, "");
      }
      const script = `${assignments}${command}\n`
        .replaceAll("Bearer KEY", `Bearer ${key}`)
        .replaceAll("@docs/", `@${pathOf("docs/")}`)
        .replaceAll("http://127.0.0.1:8000", server.origin)
        .replaceAll("http://127.0.0.1:8080", sandbox)
        .replaceAll("curl ", "curl --silent --show-error ");
      if (/^\w+=/.test(command)) assignments += `${command}\n`;
      const { stdout, stderr } = await run(["bash", "-c", script], { cwd });
      return stdout + stderr;
    }

    try {
      let shown = "";
      for (const command of pasted) shown += await replay(command);
      assert.match(shown, /^(\{"id":1,"name":"Rex",.*\})\n\[\1\]\n$/);
      for (const { file, text } of blocksOf("console")) {
        if (file === "docs/judge.md") continue; // tests/lab/seeded/judge_slow.ts
        if (text.includes("/sandbox")) {
          const { url, program } = await startSandbox("--pets 50 --quiet");
          atEnd(t, () => program.end());
          sandbox = new URL(url).origin;
        }
        let actual = "";
        for (const [, command = "", output = "", rest] of text.matchAll(STEP)) {
          const printed = (await replay(command))
            .replaceAll(server.origin, "http://127.0.0.1:8000")
            .replaceAll(/\r|\s+$/g, "").replace(/.$/, "$&\n");
          const same = masked(printed) === masked(output);
          actual += `$ ${command}\n${same ? output : printed}${rest}`;
        }
        if (process.env.UPDATE_DOCS === "1") {
          writeFileSync(
            pathOf(file),
            readText(file).replace(text, () => actual),
          );
        } else {
          assert.equal(actual, text, `${file}: UPDATE_DOCS=1 writes it anew`);
        }
      }
    } finally {
      await server.end();
    }
  },
);

// ---- sh, and the rest of the documents ----

test("the documents name tasks that exist, and the version of Deno that is tested", () => {
  const version = /^deno_version=(.*)$/m.exec(readText(".ci/run"))?.[1];
  for (const file of documents) {
    const named = readText(file)
      .matchAll(/\bdeno(?:@(\S+))? task (?:-q )?([\w:]+)/g);
    for (const [line, npx, task = ""] of named) {
      assert.ok(Object.hasOwn(tasks, task), `${file}: ${line}`);
      assert.equal(npx ?? version, version, `${file}: ${line}`);
    }
  }
});

test("the README's commands run in bash, cmd and PowerShell, with any curl", () => {
  const readme = readText("README.md");
  const [firstScreen = ""] = /^\| To [^]*?\n\n/m.exec(readme) ?? [];
  const first = firstScreen.match(/(?<=`)npx [^`]*/g) ?? [];
  assert.ok(first.length >= 5);
  const [, toRun = ""] = /^## Run$([^]*?)^## /m.exec(readme) ?? [];
  const toType = toRun.match(/^(?:\$ |deno |npx ).*/gm) ?? [];
  assert.ok(toType.length >= 4);
  for (const command of [...first, ...toType]) {
    // Quotes that cmd keeps, and variables and line ends that differ.
    assert.doesNotMatch(
      command.replace(/^\$ /, ""),
      /['$%`\\]|[\s"]@(?!docs\/)|\s@/,
      command,
    );
  }
  for (const { file, text } of blocksOf("sh")) {
    if (file === "README.md") assert.doesNotMatch(text, /^\w+=/m);
  }
  // They need curl 7.82 and 7.84; Ubuntu 22.04 has 7.81.
  assert.doesNotMatch(readme, /\bcurl\b.*(?: --json\b|%header)/);
});

test("every program and permission in an sh block is right", () => {
  const allowed = permissions.default.env.join();
  for (const { file, text } of blocksOf("sh")) {
    for (const line of text.replaceAll("\\\n", "").trimEnd().split("\n")) {
      assert.match(
        line,
        /^(?:\w+=\S+ )*(?:npm|npx|pnpm|deno|bun|node|sqlite3|pg_dump|psql|git) /,
      );
      for (const [program] of line.matchAll(/(?<=\s)[\w/]+\.ts\b/g)) {
        const exists = [".", "docs/examples", "docs/examples/exam"]
          .some((folder) => existsSync(pathOf(`${folder}/${program}`)));
        assert.ok(exists, `${file}: ${program}`);
      }
      const variables = /--allow-env=(\S+)/.exec(line)?.[1] ?? allowed;
      assert.equal(variables, allowed, file);
    }
  }
});

test("every link in the documents leads to a file, and to a heading of it", () => {
  for (const file of documents) {
    for (const [, link = ""] of readText(file).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https:/.test(link)) continue;
      const [path = "", heading] = link.split("#");
      const target = path === "" ? file : join(file, "..", path);
      assert.ok(existsSync(pathOf(target)), `${file}: ${link}`);
      if (heading === undefined) continue;
      const headings = Array.from(
        readText(target).matchAll(/^#+ (.*)$/gm),
        ([, text = ""]) =>
          text.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-"),
      );
      assert.ok(headings.includes(heading), `${file}: ${link}`);
    }
  }
});

test("Deno is started with -q: it would wait for a reader of its own lines", () => {
  const commands = [
    ...readText("docs/operating.md").matchAll(/deno (?:run|serve) [^`]+\.ts/g),
    /^ExecStart=.*/m.exec(readText("docs/examples/systemd/petstore@.service")),
    /^ENTRYPOINT .*/m.exec(readText("docs/examples/container/Dockerfile")),
  ];
  assert.equal(commands.length, 4);
  for (const command of commands) assert.match(`${command}`, /[ "]-q\b/);
});

test("docs/operating.md, --help and deno.json have each setting and no others", async () => {
  const { stdout } = await runMain(["start", "--help"], {});
  const names = stdout.match(/(?<=^ {2})[A-Z_]+/gm) ?? [];
  const [, list = ""] = /^## Settings\n[^]*?\n(- [^]*?)\n\n/m
    .exec(readText("docs/operating.md")) ?? [];
  const items = list.match(/^- `[^:]*/gm) ?? [];
  assert.deepEqual(items.join().match(/[A-Z_]+/g), names);
  assert.deepEqual(permissions.default.env, [...names, "PG*"]);
});

test("docs/contract.md has a row for each code of an error, with its status", () => {
  const rows = readText("docs/contract.md")
    .matchAll(/^\| (\d{3}) +\| `(\w+)`/gm);
  const codes = Array.from(rows, ([, status, code]) => [code, Number(status)]);
  assert.deepEqual(Object.fromEntries(codes), { ...STATUS_OF });
});

test("the faults that docs/operating.md explains are in the program's own words", () => {
  const sources = filesIn("adapters", ".ts").map(readText).join("\n");
  const [section = ""] = /^## If something is wrong\n[^]*?(?=^## )/m
    .exec(readText("docs/operating.md")) ?? [];
  const causes = section.match(/^- `[^]*?`:/gm) ?? [];
  assert.notEqual(causes.length, 0);
  for (const cause of causes) {
    for (const [, words = ""] of cause.matchAll(/`(.*?)`/g)) {
      assert.ok(sources.includes(words), words);
    }
  }
});

test("the figures of the judge in the README are those of docs/judge.md", () => {
  const [, hold, fail, unchecked] = readText("docs/judge.md")
    .match(/^The interface: (\d+) hold, (\d+) fail, (\d+) cannot/m) ?? [];
  const readme = readText("README.md");
  const all = Number(hold) + Number(fail) + Number(unchecked);
  const clauses = `| ${fail} of ${all} clauses fail `;
  assert.ok(readme.includes(clauses), clauses);
});

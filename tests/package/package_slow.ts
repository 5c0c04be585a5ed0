/** The npm package, installed in empty folders, does what the README says. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { makeConsumers } from "../../.ci/consumers.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { ROOT } from "../support/repository.ts";
import { temporaryDirectory } from "../support/temporary_directory.ts";
import { freePort, startProgram } from "../support/process.ts";
import {
  assertServes,
  type RunningServer,
  untilListening,
} from "../support/standalone.ts";
import { testUnless } from "../support/runtime.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const consumers = await makeConsumers(temporaryDirectory());
const { npm, pnpm, bun, full, tarball, sh } = consumers;
const { runtimes, newestNode, oldNode, embeddings } = consumers;
const PACKAGE = "node_modules/@petstore/service";
const BIN = `${PACKAGE}/bin.js`;

test("deno task pack prints which links are left out, and packs what is needed", () => {
  assert.match(
    consumers.printed,
    /^petstore-service-1\.0\.0\.tgz\n.* left out: in README\.md to .*CONTRIBUTING\.md/,
  );
  const others = globSync("**/*.{ts,json,lock,png,map}", {
    cwd: join(npm, PACKAGE),
    exclude: ["**/*.d.ts", "docs/examples"],
  });
  assert.deepEqual(others.sort(), [
    "checks/exam/trials.json",
    "docs/openapi-3.0.json",
    "docs/openapi.json",
    "package.json",
  ]);
  const packed = globSync("docs/**/*.*", { cwd: join(npm, PACKAGE) });
  const known = spawnSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" });
  const inGit = known.stdout.split("\n");
  assert.deepEqual(packed.filter((path) => !inGit.includes(path)), []);
  for (const path of ["node_http.ts", "frameworks/hono.ts", "client.ts"]) {
    assert.ok(packed.includes(`docs/examples/${path}`), path);
  }
  const ofClones = /grafana|kubernetes|systemd|container|patroni|decisions/;
  assert.deepEqual(packed.filter((path) => ofClones.test(path)), []);
  for (const folder of [npm, bun]) {
    const packages = globSync("*", { cwd: join(folder, "node_modules") });
    assert.deepEqual(packages.sort(), ["@petstore", "valibot"], folder);
  }
  const packages = globSync("*@*", { cwd: join(pnpm, "node_modules/.pnpm") });
  assert.equal(packages.length, 2);
});

test("every link in the documents of the package leads to a file of it", () => {
  const cwd = join(npm, PACKAGE);
  const documents = globSync("**/*.md", { cwd });
  assert.ok(documents.includes("README.md"));
  for (const document of documents) {
    const text = readFileSync(join(cwd, document), "utf8");
    for (const [, path = ""] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      const isThere = existsSync(join(cwd, dirname(document), path));
      assert.ok(isThere || /^https:/.test(path), `${document}: ${path}`);
    }
  }
});

test("publint and attw find nothing", async () => {
  const linted = await sh(`publint ${tarball}`, full);
  // An example is a test, for its reader.
  const only =
    /Suggestions:\n1\. [^\n]*\/sandbox\/petstore\.test\.mjs\)[^\n]*\s*$/;
  assert.ok(/All good!/.test(linted) || only.test(linted), linted);
  await sh(`attw --profile esm-only ${tarball}`, full);
});

for (const [cwd, command, ...args] of embeddings) {
  test(`the README's program works: ${command} ${args}, ${cwd}`, async () => {
    const PORT = `${await freePort()}`;
    const words = args.map((arg) => arg === "PORT" ? PORT : arg);
    await assertServes([command, ...words], PORT, { cwd, env: { PORT } });
  });
}

test("deno serve runs the package's entry ./serve, with the page", async (t) => {
  const flags = ["--allow-env", "--allow-sys=uid", "--allow-read=."];
  const address = ["--host", "127.0.0.1", "--port", `${await freePort()}`];
  const entry = "npm:@petstore/service/serve";
  const words = ["serve", "-q", "--no-prompt", ...address, ...flags, entry];
  const env = { PETSTORE_API_KEYS: "secret", DATABASE_URL: "memory:" };
  const command = [process.execPath, ...words];
  const server = await untilListening(
    startProgram(t, command, { cwd: full, env }),
  );
  const page = await fetch(`${server.origin}/docs`);
  assert.equal(page.status, 200);
  await page.text();
  assert.equal(await server.end(), 0);
});

/** What runs an example whose first comment says `node`. */
const anyRuntime: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(runtimes).map(([name, path]) => [name, [path]]),
  ),
  deno: [process.execPath, "run", "-A"],
};
/** These need a server, a database, an account at Cloudflare, or an application. */
const NOT_ALONE = /^(?:client|deno_deploy|worker|next)\.ts$/;
const ONLY_NODE =
  /^(?:docs_page|edge_runtime|node|application_test|storage_contract)\.ts$/;
const PORT = /\b(?:8000|3000)\b/;

for (const file of consumers.examples) {
  if (NOT_ALONE.test(file)) continue;
  const program = readFileSync(join(full, file), "utf8");
  const [, name = "", args = ""] =
    /^[^"]*?`(node|bun|deno|npx) ([^`]*)`/.exec(program) ?? [];
  const commands = name !== "node"
    ? { [name]: [name === "deno" ? process.execPath : name] }
    : ONLY_NODE.test(file)
    ? { node: [newestNode] }
    : anyRuntime;
  for (const [runtime, command] of Object.entries(commands)) {
    test(`${file} does what its first comment says, on ${runtime}`, async () => {
      const port = `${await freePort()}`;
      const placed = `${port}_${file}`;
      writeFileSync(join(full, placed), program.replace(PORT, port));
      const words = [...command, ...args.replace(file, placed).split(" ")];
      if (words[1] === "serve") words.splice(2, 0, "--port", port);
      if (!PORT.test(program)) return void await sh(words.join(" "), full);
      const env = { PATH: consumers.PATH };
      // The naive pet store rounds greater numbers.
      const categoryId = file === "naive.ts" ? 1n : undefined;
      await assertServes(words, port, { cwd: full, env }, categoryId);
    });
  }
}

const contracts: readonly (readonly [string, string])[] = [
  ...Object.values(runtimes).filter((path) => !path.endsWith("bun"))
    .flatMap((node) =>
      ["mts", "mjs", "cjs"].map((form) =>
        [npm, `${node} --test storage_contract.${form}`] as const
      )
    ),
  [bun, "bun test ./bun.test.mjs"],
  [npm, `"${process.execPath}" test -A --no-check deno.test.mjs`],
  [full, "vitest run vitest.test.mjs"],
];
for (const [cwd, line] of contracts) {
  test(`the contract of a storage works: ${line}, ${cwd}`, async () => {
    assert.match(await sh(line, cwd), /\bpass [1-9]\d$|\b[1-9]\d pass/m);
  });
}

test("every entry can be required, and TypeScript accepts it", async () => {
  for (const command of Object.values(runtimes)) {
    await sh(`${command} entries.cjs`, full);
  }
  const tsc = "tsc --noEmit --strict --target es2024 --types node";
  const files =
    "entries.mts server.mts node.mts client.mts client_errors.mts storage_contract.mts";
  await sh(`${tsc} --module nodenext ${files} entries.cts`, full);
  const bundler = "--module esnext --moduleResolution bundler";
  await sh(`${tsc} ${bundler} ${files}`, full);
});

test("a program that exports what entries return compiles with declarations", async () => {
  const programs = {
    main: `import { issuedKeys, memoryStorage } from "@petstore/service";
const storage = memoryStorage();
export const issued = issuedKeys(storage.apiKeys);
export const page = storage.list({ limit: 1 });
export const record = issued.issue("a");
export const records = issued.list();`,
    memory: `import { memoryStorage } from "@petstore/service/memory";
const storage = memoryStorage();
export const find = storage.apiKeys.find;
export const page = storage.list({ limit: 1 });`,
    layers: `import * as layers from "@petstore/service/layers";
export const { watch, layer, endpoint } = layers.createMetrics();
export const limit = layers.createRateLimit({ requests: 1, seconds: 1 });
export const all = [layers.createDrain(), layers.logLayer(), layers.probes];`,
    contract: `import * as contract from "@petstore/service/contract";
export const all = { ...contract };`,
  };
  // Each alone: an entry that another file imports would lend its names.
  for (const [name, program] of Object.entries(programs)) {
    writeFileSync(join(full, `declared_${name}.mts`), program);
    await sh(
      `tsc --declaration --outDir declared --strict --skipLibCheck --target es2024 --types node --module nodenext declared_${name}.mts`,
      full,
    );
  }
});

test("esbuild and Vite bundle the service and the client", async () => {
  const options = "--bundle --format=esm --outfile=dist/esbuild.mjs";
  await sh(`esbuild client_errors.mjs ${options} && vite build`, full);
  for (const file of ["dist/esbuild.mjs", "dist/vite.mjs"]) {
    assert.doesNotMatch(
      readFileSync(join(full, file), "utf8"),
      /^import /m,
      file,
    );
    assert.match(
      await sh(`${newestNode} ${file}`, full),
      /^API key is invalid: .* \(unauthorized\)$/m,
      file,
    );
  }
});

test("a bundle has the docs page if the package is external, and else says so", async () => {
  const program =
    'import { docs } from "@petstore/service/docs"; await docs();';
  writeFileSync(join(full, "page.mjs"), program);
  const options = "--bundle --platform=node --format=esm";
  const bundle = `esbuild page.mjs ${options} --outfile=dist/page.mjs`;
  const run = `${newestNode} dist/page.mjs`;
  await assert.rejects(
    sh(`${bundle} && ${run}`, full),
    /Cannot read .*: .*in a bundle, make @petstore\/service external/,
  );
  await sh(`${bundle} --external:@petstore/service && ${run}`, full);
});

test("the driver of PostgreSQL works in a bundle with the option of lambda.ts", async () => {
  const example = readFileSync(join(full, "lambda.ts"), "utf8");
  const [banner = ""] = /--banner:js="[^"]+"/.exec(example) ?? [];
  const program =
    'import { postgresStorage } from "@petstore/service/postgres"; console.log(postgresStorage);';
  writeFileSync(join(full, "driver.mjs"), program);
  const options = `--bundle --platform=node --format=esm ${banner}`;
  await sh(`esbuild driver.mjs ${options} --outfile=dist/driver.mjs`, full);
  assert.match(await sh(`${newestNode} dist/driver.mjs`, full), /Function/);
});

for (const [name, node] of Object.entries(runtimes)) {
  test(`the program works with valibot alone on ${name}`, async (t) => {
    const env = { DATABASE_URL: `sqlite:${await freePort()}.db` };
    const issue = `${node} ${BIN} keys issue demo --quiet`;
    const key = (await sh(issue, npm, env)).trim();
    const server = await start(t, npm, node, env);
    const { origin, stderr } = server;
    const settings = { PETSTORE_URL: `${origin}/v1`, PETSTORE_KEY: key };
    const added = await sh(`${node} client.mjs`, npm, settings);
    assert.match(added, /^1 Rex, category 9007199254740993$/m);
    const page = await fetch(`${origin}/docs`);
    assert.equal(page.status, 404);
    const hint = 'No page at /docs: run "npm install swagger-ui-dist@5.35.0"';
    assert.equal((await page.json()).message, hint);
    assert.ok(stderr().includes(`${hint}\n`), stderr()); // Node 22 warns before
    const program =
      'import { docs } from "@petstore/service/docs"; await docs();';
    writeFileSync(join(npm, "docs.mjs"), program);
    const missing = /needs: run "npm install .*swagger-ui-dist@5/;
    await assert.rejects(sh(`${node} docs.mjs`, npm), missing);
    await server.end();
    const keys = await sh(`${node} ${BIN} keys list`, npm, env);
    assert.match(keys, /^1 .* demo$/m);
    const copy = `${node} ${BIN} copy ${env.DATABASE_URL}`;
    const copied = await sh(`${copy} ${env.DATABASE_URL}2`, npm);
    assert.deepEqual(JSON.parse(copied), {
      pets: 1,
      apiKeys: 1,
      idempotencyKeys: 1,
      lastId: 1,
    });
    await assert.rejects(
      sh(`${copy} postgres://127.0.0.1/pets`, npm),
      /\nThe package pg is not installed: run "npm install pg"$/m,
    );
  });

  testUnless(skip)(`the optional packages work on ${name}`, async (t) => {
    const env = { DATABASE_URL: await emptyDatabase() };
    const { origin } = await start(t, full, node, env);
    for (const path of ["readyz", "docs", "docs/swagger-ui.js"]) {
      const { status, body } = await fetch(`${origin}/${path}`);
      assert.equal(status, 200, path);
      await body?.cancel();
    }
  });
}

/** Runs the program in a folder. */
function start(
  t: TestContext,
  cwd: string,
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<RunningServer> {
  const words = [command, BIN, "start", "--port", "0"];
  return untilListening(startProgram(t, words, { cwd, env }));
}

test("Node keeps the compiled program, and npx, bunx and pnpm dlx run it", async () => {
  assert.ok(existsSync(join(full, PACKAGE, "node_modules/.cache/petstore")));
  for (const form of ["npx -y --package ", "bunx -p ", "pnpm dlx --package="]) {
    const help = await sh(`${form}${tarball} petstore --help`, pnpm);
    assert.match(
      help,
      /^The pet store service\.[^]*^ +judge [^]*^ +exam /m,
      form,
    );
  }
});

test("the README's command that lists the commands is not npm's own", async () => {
  const readme = readFileSync(join(full, PACKAGE, "README.md"), "utf8");
  const [, command = ""] =
    /`(npx [^`]+)`\s+lists\s+the\s+commands/.exec(readme) ??
      [];
  assert.match(await sh(command, full), /^The pet store service\./);
});

test("the package's sandbox starts on Node and Bun, and ends with its standard input", async () => {
  for (const command of ["node", "bun"]) {
    const start = `${command} ${BIN} sandbox --with-stdin --quiet < /dev/null`;
    assert.match(
      await sh(start, full),
      /^\{"url":"http:\/\/127\.0\.0\.1:/,
      command,
    );
  }
});

test("Node 20 is refused with a sentence", async () => {
  const words = /\n.*This runtime is too old: use Node 22\.18, Deno/;
  const judge = "judge http://localhost:1/v1 --key k";
  for (const command of ["start", "sandbox", judge, "exam -- true"]) {
    await assert.rejects(
      sh(`${oldNode} ${BIN} ${command}`, npm),
      words,
      command,
    );
  }

  for (const file of ["node.mjs", "client.mjs"]) {
    await assert.rejects(sh(`${oldNode} ${file}`, npm), words, file);
  }
});

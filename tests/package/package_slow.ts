/** The npm package: installed in empty folders, it does what the README says. @module */

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { makeConsumers, output } from "../../.ci/consumers.ts";
import {
  freePort,
  run,
  untilListening,
} from "../adapters/standalone/program.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { temporaryDirectory } from "../support/temporary_directory.ts";

const { skip, newDatabase } = await sharedPostgres();
const consumers = await makeConsumers(temporaryDirectory());
const { tarball, npm, pnpm, bun, full, nodes, newestNode, oldNode, tool } =
  consumers;
const EXACT = 9007199254740993n;
const BIN = "node_modules/@petstore/service/bin.js";

test("deno task pack prints the package's name, and npm, pnpm and Bun add valibot alone", () => {
  assert.equal(consumers.printed, "petstore-service-1.0.0.tgz\n");
  for (const folder of [npm, bun]) {
    const names = globSync("*", { cwd: join(folder, "node_modules") });
    assert.deepEqual(names.sort(), ["@petstore", "valibot"]);
  }
  const names = globSync("*@*", { cwd: join(pnpm, "node_modules/.pnpm") });
  assert.equal(names.length, 2);
  const others = globSync("**/*.{ts,json,lock,png}", {
    cwd: join(npm, BIN, ".."),
  });
  assert.deepEqual(others.filter((name) => !name.endsWith(".d.ts")).sort(), [
    "docs/page.png",
    "package.json",
  ]);
});

test("publint and attw find nothing", async () => {
  assert.match(await output(tool("publint"), [tarball], full), /All good!/);
  await output(tool("attw"), ["--profile", "esm-only", tarball], full);
});

/** The first `ts` block of a document after a heading. */
function block(file: string, heading: string): string {
  const document = readFileSync(
    new URL(`../../${file}`, import.meta.url),
    "utf8",
  );
  const text = document.slice(document.indexOf(`\n${heading}\n`));
  return /^```ts\n([^]*?)^```$/m.exec(text)?.[1] ?? assert.fail(heading);
}

const inJavaScript = (code: string) =>
  code.replaceAll(/\((\w+): \w+\)/g, "($1)");
const FORMS: Readonly<Record<string, (code: string) => string>> = {
  mts: (code) => code,
  mjs: inJavaScript,
  cjs(code) {
    const imports = /^import (.*) from (.*);$/gm;
    return `(async () => {${
      inJavaScript(code).replaceAll(imports, "const $1 = require($2);")
    }})();`;
  },
};

const PLACES = [
  ...Object.values(nodes).map((node) =>
    ["Node", npm, ["mts", "mjs", "cjs"], node] as const
  ),
  ["Node", pnpm, ["mjs"], newestNode],
  ["Node", bun, ["mjs"], newestNode],
  ["Bun", bun, ["mts", "mjs"], tool("bun")],
  ["Deno", npm, ["mts"], process.execPath],
] as const;
for (const [section, folder, forms, command] of PLACES) {
  test(`what the README says for ${section} works in ${folder}: ${forms} on ${command}`, async () => {
    for (const form of forms) {
      const port = await freePort();
      const code = FORMS[form]?.(block("README.md", `### ${section}`)) ?? "";
      writeFileSync(
        join(folder, `${port}.${form}`),
        code.replace("8000", `${port}`),
      );
      const deno = section === "Deno" ? ["run", "-A"] : [];
      const program = run([...deno, `${port}.${form}`], {
        cwd: folder,
        command,
      });
      try {
        const client = ["-e", `${createPet(port)}`];
        assert.equal(await output(newestNode, client, npm), `${EXACT}\n`);
      } finally {
        program.kill("SIGKILL");
        await program.exited;
      }
    }
  });
}

/** A program that adds a pet, as soon as the server listens, and prints its category. */
function createPet(port: number): string {
  return `require("@petstore/service/client")
    .createClient({ baseUrl: "http://127.0.0.1:${port}/v1", key: "secret", retries: 10 })
    .createPet({ name: "Rex", categoryId: ${EXACT}n }).then((pet) => console.log(String(pet.categoryId)))`;
}

test("every entry can be required", async () => {
  const code = `const { exports } = require("@petstore/service/package.json");
    for (const name in exports) require("@petstore/service" + name.slice(1));`;
  for (const command of [...Object.values(nodes), tool("bun")]) {
    await output(command, ["-e", code], full);
  }
});

test("TypeScript accepts all entries and embeddings, and checks their declarations", async () => {
  const { exports } = JSON.parse(
    readFileSync(join(full, BIN, "../package.json"), "utf8"),
  );
  const entries = Object.keys(exports).filter((name) => !name.endsWith("json"));
  const files = [
    entries.map((name, i) =>
      `export * as e${i} from "@petstore/service${name.slice(1)}";\n`
    ).join(""),
    ...["### Bun", "### Node", "## Client"].map((heading) =>
      block("README.md", heading)
    ),
  ].map((code, i) => (writeFileSync(join(full, `${i}.mts`), code), `${i}.mts`));
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2024",
    "--types",
    "node",
    "--module",
  ];
  await output(tool("tsc"), [...flags, "nodenext", ...files], full);
  await output(tool("tsc"), [
    ...flags,
    "esnext",
    "--moduleResolution",
    "bundler",
    ...files,
  ], full);
});

test("esbuild and Vite bundle the client, the service and valibot", async () => {
  writeFileSync(
    join(full, "client.mjs"),
    block("docs/embedding.md", "## Use the client"),
  );
  const lib = { entry: "client.mjs", formats: ["es"], fileName: "vite" };
  writeFileSync(
    join(full, "vite.config.mjs"),
    `export default ${JSON.stringify({ build: { lib } })};`,
  );
  await output(tool("esbuild"), [
    "client.mjs",
    "--bundle",
    "--format=esm",
    "--outfile=dist/esbuild.mjs",
  ], full);
  await output(tool("vite"), ["build", "--emptyOutDir=false"], full);
  for (const file of ["dist/esbuild.mjs", "dist/vite.mjs"]) {
    assert.doesNotMatch(readFileSync(join(full, file), "utf8"), /^import /m);
    const program = run([file], { cwd: full, command: newestNode });
    await program.exited;
    assert.match(
      program.stderr(),
      /^API key is invalid: .* \(unauthorized\)$/m,
    );
  }
});

for (const command of [...Object.values(nodes), tool("bun")]) {
  test(`the program works with valibot alone, and says what else to install, on ${command}`, async () => {
    const env = { DATABASE_URL: `sqlite:${await freePort()}.db` };
    const server = await untilListening(
      run([BIN, "start", "--port", "0"], { cwd: npm, env, command }),
    );
    try {
      writeFileSync(join(npm, "client.mjs"), block("README.md", "## Client"));
      const settings = {
        PETSTORE_URL: `${server.origin}/v1`,
        PETSTORE_KEY: server.key ?? "",
      };
      assert.match(
        await output(command, ["client.mjs"], npm, settings),
        new RegExp(`^1 Rex, category ${EXACT}$`, "m"),
      );
      const page = await fetch(`${server.origin}/docs`);
      assert.equal(page.status, 404);
      assert.match(await page.text(), /run "npm install swagger-ui-dist"/);
      assert.match(
        await output(command, [BIN, "keys", "list"], npm, env),
        /^1 .* first key$/m,
      );
      const copied = await output(command, [
        BIN,
        "copy",
        env.DATABASE_URL,
        `${env.DATABASE_URL}2`,
      ], npm);
      assert.match(copied, /^Copied pets: 1, API keys: 1$/m);
      const postgres = { DATABASE_URL: "postgres://127.0.0.1/pets" };
      await assert.rejects(
        output(command, [BIN, "keys", "list"], npm, postgres),
        /\npostgres|The package pg is not installed: run "npm install pg"/,
      );
    } finally {
      server.kill("SIGTERM");
      await server.exited;
    }
  });
}

test("Node keeps the compiled code of the program beside the packages", () => {
  assert.ok(existsSync(join(npm, "node_modules/.cache/petstore")));
});

test(
  "with the optional packages it shows the page, and keeps pets in PostgreSQL",
  { skip },
  async () => {
    const env = { DATABASE_URL: await newDatabase() };
    for (const command of [...Object.values(nodes), tool("bun")]) {
      const server = await untilListening(
        run([BIN, "start", "--port", "0"], { cwd: full, env, command }),
      );
      try {
        for (const path of ["/docs", "/docs/swagger-ui.js", "/docs/page.css"]) {
          const response = await fetch(server.origin + path);
          assert.equal(response.status, 200);
          await response.body?.cancel();
        }
        assert.equal((await fetch(`${server.origin}/readyz`)).status, 200);
      } finally {
        server.kill("SIGTERM");
        await server.exited;
      }
    }
  },
);

test("npx, bunx and pnpm dlx run it from the file", async () => {
  for (
    const [command, ...args] of [
      ["npx", "-y", "--package", tarball, "petstore"],
      [tool("bunx"), "--package", tarball, "petstore"],
      [tool("pnpm"), `--package=${tarball}`, "dlx", "petstore"],
    ]
  ) {
    assert.match(
      await output(command ?? "", [...args, "--help"], pnpm),
      /^The pet store service$/m,
    );
  }
});

test("Node 20 is refused with a sentence", async () => {
  const words =
    /Cannot read 64-bit integers exactly on this runtime: use Node 22\.18/;
  await assert.rejects(output(oldNode, [BIN, "start"], npm), words);
  for (const name of ["createHandler", "createClient"]) {
    const entry = name === "createClient" ? "/client" : "";
    const code =
      `import("@petstore/service${entry}").then((entry) => entry.${name}({}))`;
    await assert.rejects(output(oldNode, ["-e", code], npm), words);
  }
});

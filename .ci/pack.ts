/**
 * Makes the npm package, `petstore-service-VERSION.tgz`, in the folder it is run in: `deno task pack`.
 *
 * TypeScript makes JavaScript of what the entries in `deno.json` and the program import. (`deno pack`
 * cannot: it has no `bin`, `engines` or optional peers, its source maps name the folders of this machine,
 * and it warns about every internal module.) `npm publish petstore-service-VERSION.tgz` publishes it.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const TYPESCRIPT = "7.0.2";
/** To fill in: the address of this repository, as `git+https://…`. npm then links to it. */
const REPOSITORY: string | undefined = undefined;

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const MAIN = "adapters/standalone/main.ts";
/** Checks any service against the contract. In the package it and the contract are no tests. */
const JUDGE = "tests/judge/main.ts";

interface Config {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

const config: Config = JSON.parse(
  readFileSync(join(ROOT, "deno.json"), "utf8"),
);

const folder = mkdtempSync(join(tmpdir(), "petstore-pack-"));
try {
  compile();
  writeFileSync(join(folder, "bin.js"), program());
  writeFileSync(join(folder, "package.json"), toText(packageJson()));
  const assets = globSync("adapters/**/*.{html,css,js}", { cwd: ROOT });
  for (
    const path of [
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "docs/page.png",
      "docs/first_minute.svg",
      ...assets,
    ]
  ) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(folder, path));
  }
  checkImports();
  run("npm", ["pack", "--silent", "--pack-destination", process.cwd()], folder);
  console.log(
    `${config.name.slice(1).replace("/", "-")}-${config.version}.tgz`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Compiles the entries, the program, and all that they import. `deno task check` checks the types. */
function compile(): void {
  const files = [
    ...Object.values(config.exports),
    MAIN,
    JUDGE,
  ];
  const tsconfig = join(folder, "tsconfig.json");
  writeFileSync(
    tsconfig,
    toText({
      compilerOptions: {
        rootDir: ROOT,
        outDir: folder,
        target: "es2024",
        module: "esnext",
        moduleResolution: "bundler",
        rewriteRelativeImportExtensions: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        declaration: true,
        sourceMap: true,
        inlineSources: true,
        noCheck: true,
        types: [],
      },
      files: files.map((path) => join(ROOT, path)),
    }),
  );
  const tsc = [
    "run",
    "-A",
    "--quiet",
    "--no-config",
    "--no-lock",
    `npm:typescript@${TYPESCRIPT}/tsc`,
  ];
  run(process.execPath, [...tsc, "-p", tsconfig], folder);
  rmSync(tsconfig);
  renameSync(join(folder, "tests"), join(folder, "judge"));
  // In declarations TypeScript leaves the names of imported files as they are.
  for (const path of filesLike("**/*.d.ts")) {
    const text = read(path);
    writeFileSync(
      join(folder, path),
      text.replaceAll(/(from |import\()"(\.[^"]*)\.ts"/g, '$1"$2.js"'),
    );
  }
  // Sources are in the maps themselves: their paths name the folders of this machine.
  for (const path of filesLike("**/*.js.map")) {
    const map: { sources: readonly string[] } = JSON.parse(read(path));
    const sources = map.sources.map((source) => basename(source));
    writeFileSync(join(folder, path), JSON.stringify({ ...map, sources }));
  }
}

/** The command `petstore`. */
function program(): string {
  return `#!/usr/bin/env node
import process from "node:process";
import { reportAndExit } from "./adapters/standalone/command_line.js";

const [name, ...args] = process.argv.slice(2);
if (name === "judge") {
  const { runJudge } = await import("./judge/judge/main.js");
  await runJudge(args).catch(reportAndExit);
} else {
  await import("./${toJavaScript(MAIN)}");
}
`;
}

function packageJson(): Readonly<Record<string, unknown>> {
  const { name, version, license, exports, imports } = config;
  const range = (name: string) => imports[name]?.replace(`npm:${name}@`, "");
  const optional = ["pg", "swagger-ui-dist"];
  return {
    name,
    version,
    description:
      "The pet store of the OpenAPI tutorials as a service: a function from Request to Response, and a server on SQLite or PostgreSQL",
    keywords: [
      "petstore",
      "openapi",
      "rest",
      "http",
      "fetch",
      "server",
      "sqlite",
      "postgresql",
    ],
    license,
    repository: REPOSITORY && { type: "git", url: REPOSITORY },
    type: "module",
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map((
          [entry, path],
        ) => [entry, `./${toJavaScript(path)}`]),
      ),
      "./package.json": "./package.json",
    },
    bin: { petstore: "bin.js" },
    sideEffects: false,
    engines: { node: ">=22.18" },
    dependencies: { valibot: range("valibot") },
    peerDependencies: Object.fromEntries(
      optional.map((name) => [name, range(name)]),
    ),
    peerDependenciesMeta: Object.fromEntries(
      optional.map((name) => [name, { optional: true }]),
    ),
  };
}

/** @throws {Error} if a module lacks its types or source map, or imports what the package does not have. */
function checkImports(): void {
  const known = /^node:|^valibot$|^pg$/;
  const isThere = (...path: string[]) => existsSync(join(folder, ...path));
  for (const path of filesLike("**/*.{js,d.ts}")) {
    const code = read(path).replaceAll(/^ *\/\*\*[^]*?\*\//gm, "");
    const names = code.matchAll(/\b(?:from|import)(?: |\()"([^"]+)"/g);
    for (const [, name = ""] of names) {
      const isOwn = /^\.\.?\//.test(name) && isThere(dirname(path), name);
      if (isOwn || known.test(name)) continue;
      throw new Error(`${path} imports ${name}, which is not in the package`);
    }
  }
  for (const path of filesLike("**/*.js.map")) {
    const module = path.replace(/\.js\.map$/, "");
    if (isThere(`${module}.js`) && isThere(`${module}.d.ts`)) continue;
    throw new Error(`${module} has no JavaScript or no types`);
  }
}

function filesLike(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: folder });
}

function read(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

function toJavaScript(path: string): string {
  return path.replace(/^\.\//, "").replace(/\.ts$/, ".js");
}

function toText(value: unknown): string {
  return JSON.stringify(value, null, 2) + "\n";
}

/** Runs a program; what it prints is shown only if it fails. */
function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
  });
  if (status === 0) return;
  throw new Error(`${command} ${args.join(" ")}\n${error ?? stdout + stderr}`);
}

/**
 * Makes the npm package, `petstore-service-VERSION.tgz`, in the current folder: `deno task pack`.
 *
 * TypeScript compiles what the entries in `deno.json` and the program import to JavaScript.
 * (`deno pack` cannot: it has no `bin`, `engines` or optional peers, and it warns about every
 * internal module.) There are no source maps, because the JavaScript has the comments and names of
 * its source. `npm publish petstore-service-VERSION.tgz` publishes it.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import {
  constants,
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
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { run } from "./run_program.ts";
import { linkInPackage } from "./package_links.ts";

const TYPESCRIPT = "7.0.2";
/**
 * The address of this repository, once there is one: `git+https://github.com/OWNER/NAME.git`. Then
 * the README's links on npm are absolute, and the other documents link to what the package lacks.
 * JSR makes these links absolute by itself once its settings link the package to that repository.
 */
const REPOSITORY: string | undefined = undefined;

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** Entries that start the server when imported. */
const PROGRAMS = ["./serve", "./main"];
/**
 * The command `petstore`. In the package `judge`, `exam` and the contract of storages are not tests,
 * but `checks/`.
 */
const PROGRAM = "tests/program.ts";

/** The files of this repository: others, such as a database, may be secret. */
const IN_GIT = execFileSync("git", ["ls-files", "-z"], {
  cwd: ROOT,
  encoding: "utf8",
}).split("\0");
/** What only a clone needs: how it was designed, and how its server is deployed. */
const CLONE_ONLY =
  /^docs\/(?:decisions|tour\.md|page\.png|speed\.|examples\/(?:container|systemd|patroni|frameworks\/deno\.|kubernetes|grafana|alerts|nginx|haproxy|deno_deploy|petstore\.http))/;

function inGit(pattern: RegExp): readonly string[] {
  return IN_GIT.filter((path) => pattern.test(path) && !CLONE_ONLY.test(path));
}

/** Documents in the package. */
const DOCUMENTS = [
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...inGit(/^docs\/.*\.md$/),
];

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
  writeFileSync(
    join(folder, "bin.js"),
    `#!/usr/bin/env node
import "./${toJavaScript(PROGRAM)}";
`,
  );
  writeFileSync(join(folder, "package.json"), toText(packageJson()));
  const assets = inGit(/^adapters\/.*\.(?:html|css|js)$/);
  const pictures = inGit(/^docs\/[^/]*\.(?:svg|png|json|yaml)$/);
  const examples = inGit(/^docs\/examples\/.*[^/](?<!\.md)$/);
  const whole = ["LICENSE", ...pictures, ...assets, ...examples, ...DOCUMENTS];
  for (const path of whole) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    // Never overwrites a compiled module of that name.
    const { COPYFILE_EXCL } = constants;
    copyFileSync(join(ROOT, path), join(folder, path), COPYFILE_EXCL);
  }
  const [ofReadme = [], ...ofOthers] = DOCUMENTS.map(writeLinks);
  checkImports();
  run("npm", ["pack", "--silent", "--pack-destination", process.cwd()], folder);
  console.log(
    `${config.name.slice(1).replace("/", "-")}-${config.version}.tgz`,
  );
  if (ofReadme.length > 0) {
    console.log(
      "REPOSITORY in .ci/pack.ts is not set, so links out of the package are left out: " +
        `in README.md to ${[...new Set(ofReadme)].join(", ")}; ` +
        `in other documents ${ofOthers.flat().length}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}

/**
 * Compiles the entries, the program, and everything they import. `deno task check` checks the
 * types.
 */
function compile(): void {
  const files = [
    ...Object.values(config.exports),
    PROGRAM,
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
        resolveJsonModule: true, // the exam's trials
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
  renameSync(join(folder, "tests"), join(folder, "checks"));
  // TypeScript does not change the names of imported files in declarations.
  for (const path of filesLike("**/*.d.ts")) {
    const text = read(path);
    writeFileSync(
      join(folder, path),
      text.replaceAll(/(from |import\()"(\.[^"]*)\.ts"/g, '$1"$2.js"'),
    );
  }
}

/** Makes every link of a document work; returns the paths that it no longer links to. */
function writeLinks(path: string): readonly string[] {
  // The comments of a source are in its declarations.
  const sources = /(\]\((?:\.\.\/)+(?:core|adapters)\/[^)]*)\.ts\)/g;
  const document = read(path).replaceAll(sources, "$1.d.ts)");
  const { text, leftOut } = linkInPackage({ path, text: document }, {
    isInPackage: (target) => existsSync(join(folder, target)),
    repository: REPOSITORY?.replace(/^git\+|\.git$/g, ""),
  });
  writeFileSync(join(folder, path), text);
  return leftOut;
}

function packageJson(): Readonly<Record<string, unknown>> {
  const { name, version, license, exports, imports } = config;
  const range = (name: string) => imports[name]?.replace(`npm:${name}@`, "");
  const optional = ["pg", "swagger-ui-dist"];
  return {
    name,
    version,
    description:
      "A strict pet store over HTTP and JSON: a function from Request to Response, and a server on SQLite or PostgreSQL",
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
    sideEffects: PROGRAMS.map((entry) =>
      `./${toJavaScript(exports[entry] ?? "")}`
    ),
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

/** @throws {Error} if a module lacks its types, or imports what the package does not have. */
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
  for (const path of filesLike("**/*.d.ts")) {
    const module = path.replace(/\.d\.ts$/, "");
    if (isThere(`${module}.js`)) continue;
    throw new Error(`${module} has types, but no JavaScript`);
  }
}

function filesLike(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: folder });
}

function read(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

function toJavaScript(path: string): string {
  return path.replace(/^\.\//, "").replace(/^tests\//, "checks/")
    .replace(/\.ts$/, ".js");
}

function toText(value: unknown): string {
  return JSON.stringify(value, null, 2) + "\n";
}

/**
 * Consumers of the npm package for `tests/package/`: folders in which npm, pnpm and Bun have
 * installed it, and third-party programs, whose versions are written only here. It needs nothing
 * but npm.
 *
 * @module
 */

import { spawn } from "node:child_process";
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The first version that the package supports, and the newest ones. */
const NODES = ["22.18.0", "24.21.0", "26.10.0"];
/** The newest version that reads integers inexactly. */
const OLD_NODE = "20.20.2";
const TOOLS = [
  "@arethetypeswrong/cli@0.18.5",
  "@types/node@26.6.6",
  "bun@1.4.5",
  "pnpm@12.21.0",
  "publint@0.3.25",
  "typescript@7.0.2",
  "vite@8.3.8",
  "vitest@5.1.1",
].join(" ");

/** Folders and programs. */
export interface Consumers {
  /** The output of `deno task pack`. */
  readonly printed: string;
  readonly tarball: string;
  /** Folders with only the package and valibot. */
  readonly npm: string;
  readonly pnpm: string;
  readonly bun: string;
  /**
   * The folder that also has the optional packages, the tools, and the examples with their
   * packages.
   */
  readonly full: string;
  /** The names of the examples, which are in `full`. */
  readonly examples: readonly string[];
  /** The search path of the tools. */
  readonly PATH: string;
  /** Paths of Node and Bun, by name and version. */
  readonly runtimes: Readonly<Record<string, string>>;
  readonly newestNode: string;
  readonly oldNode: string;
  /**
   * The commands for the programs of the README: the folder, the runtime and the arguments of each.
   */
  readonly embeddings: readonly (readonly [string, string, ...string[]])[];
  /**
   * Runs a command line to its end, with the tools on PATH, within two minutes. Returns what it
   * wrote.
   *
   * @throws {Error} if it failed; the message is what it wrote.
   */
  sh(
    line: string,
    cwd: string,
    env?: Readonly<Record<string, string>>,
  ): Promise<string>;
}

/** Packs the package, installs it everywhere, and adds the programs of the documents. */
export async function makeConsumers(home: string): Promise<Consumers> {
  const [npm, pnpm, bun, full] = ["npm", "pnpm", "bun", "full"].map((name) => {
    mkdirSync(join(home, name));
    return join(home, name);
  }) as [string, string, string, string];
  const tools = join(full, "node_modules/.bin");
  let PATH = `${tools}${delimiter}${process.env.PATH}`;
  const sh: Consumers["sh"] = (line, cwd, env) =>
    runLine(line, cwd, { PATH, ...env });

  const pack = fileURLToPath(new URL("pack.ts", import.meta.url));
  const printed = await sh(`"${process.execPath}" run -A "${pack}"`, home);
  const tarball = join(home, printed.split("\n", 1).join());
  const node = async (version: string) => {
    const line = `npx -y -p node@${version} node -p process.execPath`;
    return (await sh(`${line} 2>/dev/null`, home)).trim();
  };
  const install = `npm install --ignore-scripts=false --no-audit ${tarball}`;
  const [oldNode, nodes] = await Promise.all([
    node(OLD_NODE),
    Promise.all(NODES.map(node)),
    sh(install, npm),
    sh(
      `${install} pg swagger-ui-dist@5.35.0 jose ${frameworks()} ${TOOLS}`,
      full,
    ),
  ]);
  const newestNode = nodes.at(-1) ?? "";
  PATH = `${dirname(newestNode)}${delimiter}${PATH}`;
  const cwd = join(full, "node_modules/@petstore/service/docs/examples");
  const examples = globSync("{*,frameworks/*}.ts", { cwd });
  for (const path of examples) {
    copyFileSync(join(cwd, path), join(full, basename(path)));
  }
  await sh(`pnpm add ${tarball}`, pnpm);
  await sh(`bun add ${tarball}`, bun);
  for (const folder of [npm, pnpm, bun, full]) writePrograms(folder);
  writeEntries(full);

  const bunPath = join(tools, "bun");
  return {
    ...{ printed, tarball, npm, pnpm, bun, full, newestNode, oldNode, sh },
    ...{ PATH, examples: examples.map((path) => basename(path)) },
    runtimes: Object.fromEntries([
      ...nodes.map((path, i) => [`Node ${NODES[i]}`, path]),
      ["Bun", bunPath],
    ]),
    embeddings: [
      ...nodes.flatMap((node) =>
        ["mts", "mjs", "cjs"].map((form) =>
          [npm, node, `node.${form}`] as const
        )
      ),
      [pnpm, newestNode, "node.mjs"],
      [bun, newestNode, "node.mjs"],
      [bun, bunPath, "server.mts"],
      [bun, bunPath, "server.mjs"],
      [npm, process.execPath, "serve", "--port", "PORT", "server.mts"],
    ],
  };
}

/** The packages that the examples for frameworks import, with their versions. */
function frameworks(): string {
  const path = "../docs/examples/frameworks/deno.json";
  const text = readFileSync(new URL(path, import.meta.url), "utf8");
  const packages = Object.values<string>(JSON.parse(text).imports)
    .filter((target) => target.startsWith("npm:"));
  return packages.join(" ").replaceAll("npm:", "");
}

/** Writes programs that import all entries, and the settings of Vite. */
function writeEntries(folder: string): void {
  const path = join(folder, "node_modules/@petstore/service/package.json");
  const names = Object.keys(JSON.parse(readFileSync(path, "utf8")).exports)
    .filter((name) => !/json$|^\.\/(?:serve|main)$/.test(name))
    .map((name) => `"@petstore/service${name.slice(1)}"`);
  const write = (name: string, line: (name: string, i: number) => string) =>
    writeFileSync(join(folder, name), names.map(line).join("\n"));
  write("entries.mts", (name) => `import ${name};`);
  write("entries.cjs", (name) => `require(${name});`);
  write("entries.cts", (name, i) => `import * as e${i} from ${name}; e${i};`);
  const lib = { entry: "client_errors.mjs", formats: ["es"], fileName: "vite" };
  const config = JSON.stringify({ build: { lib, emptyOutDir: false } });
  writeFileSync(join(folder, "vite.config.mjs"), `export default ${config};`);
}

/**
 * Writes the examples of the documents as TypeScript, JavaScript and CommonJS. They listen on
 * `PORT`.
 */
function writePrograms(folder: string): void {
  const programs = {
    server: block("README.md", "# Pet store"),
    node: block("README.md", "## Embed"),
    client: readFileSync(
      new URL("../docs/examples/client.ts", import.meta.url),
      "utf8",
    ),
    client_errors: block("docs/embedding.md", "## Use the client"),
    storage_contract: block("docs/embedding.md", "## Write a storage"),
  };
  for (const [name, code] of Object.entries(programs)) {
    const typed = code.replace("8000", "Number(process.env.PORT)");
    const untyped = typed.replaceAll(/\((\w+): \w+\)/g, "($1)");
    const imports = /^import (.*) from (.*);$/gm;
    const required = untyped.replaceAll(imports, "const $1 = require($2);");
    writeFileSync(join(folder, `${name}.mts`), typed);
    writeFileSync(join(folder, `${name}.mjs`), untyped);
    const common = `(async () => {\n${required}})();\n`;
    writeFileSync(join(folder, `${name}.cjs`), common);
  }
  for (const runner of ["bun", "vitest"]) {
    const module = runner === "bun" ? "bun:test" : runner;
    const code = programs.storage_contract.replace(
      /\{ after, (.*) \} from "node:test"/,
      `{ afterAll as after, $1 } from "${module}"`,
    );
    writeFileSync(join(folder, `${runner}.test.mjs`), code);
  }
  const code = programs.storage_contract.replace(
    /^import .* from "node:test";$/m,
    "const { afterAll: after } = Deno.test;\nconst it = Deno.test;\n" +
      "const describe = (_title, tests) => tests();",
  );
  writeFileSync(join(folder, "deno.test.mjs"), code);
}

/** The first `ts` block of a document after a heading. */
function block(file: string, heading: string): string {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
  const section = text.slice(`\n${text}`.indexOf(`\n${heading}\n`));
  const code = /^```ts\n([^]*?)^```$/m.exec(section)?.[1];
  if (code !== undefined) return code;
  throw new Error(`${file} has no program at ${heading}`);
}

function runLine(
  line: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn("bash", ["-c", line], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
  });
  let written = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => written += text);
  }
  return new Promise((resolve, reject) => {
    child.once("close", (code) => {
      if (code === 0) resolve(written);
      else reject(new Error(`${line}\n${written}`));
    });
  });
}

/**
 * What `tests/package/` tries the npm package with: folders that npm, pnpm and Bun have installed it in, and
 * the programs of others, in versions that are written here and nowhere else. Only npm is needed for it.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The first version that the package is for, and the newest ones. */
const NODES = ["22.18.0", "24.21.0", "26.10.0"];
/** The newest version that reads integers inexactly. */
const OLD_NODE = "20.20.2";
const TOOLS = [
  "@arethetypeswrong/cli@0.18.5",
  "@types/node@26.6.6",
  "bun@1.4.5",
  "esbuild@0.28.2",
  "pnpm@12.21.0",
  "publint@0.3.25",
  "typescript@7.0.2",
  "vite@8.3.8",
];

/** Folders, and paths of programs. */
export interface Consumers {
  /** What `deno task pack` printed. */
  readonly printed: string;
  readonly tarball: string;
  /** Folders with the package and valibot. */
  readonly npm: string;
  readonly pnpm: string;
  readonly bun: string;
  /** The folder that also has the optional packages, and the tools. */
  readonly full: string;
  /** Paths of Node, by version. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly newestNode: string;
  readonly oldNode: string;
  /** The path of a program in `full`. */
  tool(name: string): string;
}

/** Packs the package, and installs it everywhere. */
export async function makeConsumers(home: string): Promise<Consumers> {
  const pack = fileURLToPath(new URL("pack.ts", import.meta.url));
  const printed = await output(process.execPath, ["run", "-A", pack], home);
  const tarball = join(home, printed.trim());
  const [npm, pnpm, bun, full] = ["npm", "pnpm", "bun", "full"].map((name) => {
    mkdirSync(join(home, name));
    return join(home, name);
  }) as [string, string, string, string];
  const tool = (name: string) => join(full, "node_modules/.bin", name);

  const node = async (version: string) => {
    const program = ["node", "-p", "process.execPath"];
    const args = ["-y", "-p", `node@${version}`, ...program];
    return (await output("npx", args, home)).trim();
  };
  const install = ["install", "--ignore-scripts=false", "--no-audit", tarball];
  const [oldNode, nodes] = await Promise.all([
    node(OLD_NODE),
    Promise.all(NODES.map(node)),
    output("npm", install, npm),
    output("npm", [...install, "pg", "swagger-ui-dist", ...TOOLS], full),
  ]);
  await output(tool("pnpm"), ["add", tarball], pnpm);
  await output(tool("bun"), ["add", tarball], bun);
  return {
    ...{ printed, tarball, npm, pnpm, bun, full, oldNode, tool },
    nodes: Object.fromEntries(NODES.map((name, i) => [name, nodes[i] ?? ""])),
    newestNode: nodes.at(-1) ?? "",
  };
}

/**
 * Runs a program to its end, within two minutes.
 *
 * @returns what it wrote to standard output.
 * @throws {Error} if it failed; the message is what it wrote.
 */
export function output(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) return resolve(stdout);
      reject(new Error(`${command} ${args.join(" ")}\n${stdout}${stderr}`));
    });
  });
}

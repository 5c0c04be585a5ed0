/**
 * The runtimes that are measured, how each is told to run a program, and where they are: on `PATH`, or
 * fetched by npm.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import process from "node:process";

/** The runtimes that a server can be measured on. */
export const RUNTIMES = ["deno", "bun", "node"] as const;

/** A runtime that a server can be measured on. */
export type RuntimeName = typeof RUNTIMES[number];

/** How a runtime is had and used. */
interface Setup {
  /** What npm fetches when the runtime is not on `PATH`, or too old. */
  readonly npm: string;
  /** The oldest major and minor version that will do. */
  readonly least: readonly [number, number];
  /** The flags before a program. */
  readonly flags: readonly string[];
  /** The flags of a program that collects garbage. */
  readonly gc: readonly string[];
  /** The flag that runs a text. */
  readonly evaluate: string;
}

/** All flags of all runtimes. Nothing else in the bench tells them apart. */
const SETUPS: Readonly<Record<RuntimeName, Setup>> = {
  deno: {
    npm: "deno@2.9.6",
    least: [2, 9],
    flags: ["run", "-A"],
    gc: ["--v8-flags=--expose-gc"],
    evaluate: "eval",
  },
  bun: {
    npm: "bun@1.4.5",
    least: [1, 4],
    flags: ["run"],
    gc: [],
    evaluate: "-e",
  },
  node: {
    npm: "node@26",
    least: [26, 0],
    flags: ["--disable-warning=ExperimentalWarning"],
    gc: ["--expose-gc"],
    evaluate: "-e",
  },
};

/** A runtime, found. */
export interface Runtime {
  readonly name: RuntimeName;
  /** `Deno 2.9.6`. */
  readonly title: string;
  /** The executable itself, not a script around it, which would get the signals instead. */
  readonly command: string;
}

const WHO = "console.log(JSON.stringify([process.execPath, " +
  "globalThis.Deno?.version.deno ?? process.versions.bun ?? process.versions.node]))";

/**
 * Finds runtimes: from the environment (`PETSTORE_TEST_NODE=/path/to/node`), on `PATH`, or from npm.
 *
 * @throws {Error} when one cannot be had.
 */
export function findRuntimes(names: readonly RuntimeName[]): Runtime[] {
  return names.map((name) => {
    const { npm } = SETUPS[name];
    const given = process.env[`PETSTORE_TEST_${name.toUpperCase()}`] ?? name;
    const found = ask(name, given) ??
      ask(name, "npx", "-y", "-p", npm, "--", name);
    if (found !== undefined) return found;
    throw new Error(`Cannot find ${name}: npx -p ${npm} failed as well`);
  });
}

/** Asks a runtime where and what it is; `undefined` when it is missing or too old. */
function ask(
  name: RuntimeName,
  program: string,
  ...args: readonly string[]
): Runtime | undefined {
  const { evaluate, least } = SETUPS[name];
  const { stdout, status } = spawnSync(program, [...args, evaluate, WHO], {
    encoding: "utf8",
    timeout: 300_000,
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (status !== 0) return undefined;
  const [command, version] = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  const [major = 0, minor = 0] = String(version).split(".").map(Number);
  const isNew = major > least[0] || (major === least[0] && minor >= least[1]);
  const title = `${name[0]?.toUpperCase()}${name.slice(1)} ${version}`;
  return isNew ? { name, title, command } : undefined;
}

/** The arguments that make a runtime run a program, which may have to collect garbage. */
export function programArgs(
  { name }: Runtime,
  file: string,
  collects: boolean,
): string[] {
  const { flags, gc } = SETUPS[name];
  return [...flags, ...collects ? gc : [], file];
}

/** A port of 127.0.0.1 that the operating system has free: one of five digits, as port 0 gives. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" ? address?.port ?? 0 : 0;
      server.close(() => resolve(port));
    });
  });
}

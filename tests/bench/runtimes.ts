/**
 * The runtimes that are measured: their flags, their ports, and where they are.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import process from "node:process";

/** The runtimes that a server can be measured on. */
export const RUNTIMES = ["deno", "bun", "node"] as const;

/** A runtime that a server can be measured on. */
export type RuntimeName = typeof RUNTIMES[number];

/** What tells the runtimes apart; `least` is 100 times the major version and the minor one. */
const SETUPS = {
  deno: {
    npm: "deno@2.9.6",
    least: 209,
    evaluate: "eval",
    flags: ["run", "-A"],
    gc: "--v8-flags=--expose-gc",
  },
  bun: {
    npm: "bun@1.4.5",
    least: 104,
    evaluate: "-e",
    flags: ["run"],
    gc: undefined, // `Bun.gc` is always there
  },
  node: {
    npm: "node@26",
    least: 2600,
    evaluate: "-e",
    flags: ["--disable-warning=ExperimentalWarning"],
    gc: "--expose-gc",
  },
} as const;

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
 * Finds a runtime: from the environment (`PETSTORE_TEST_NODE=/path/to/node`), on `PATH`, or from npm.
 *
 * @throws {Error} when it cannot be had.
 */
export function findRuntime(name: RuntimeName): Runtime {
  const { npm } = SETUPS[name];
  const own = process.env[`PETSTORE_TEST_${name.toUpperCase()}`] ?? name;
  const found = ask(name, own) ?? ask(name, "npx", "-y", "-p", npm, "--", name);
  if (found !== undefined) return found;
  throw new Error(`Cannot find ${name}: npx -p ${npm} failed as well`);
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
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (status !== 0) return undefined;
  const [command, version] = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  const [major = 0, minor = 0] = String(version).split(".").map(Number);
  const title = `${name[0]?.toUpperCase()}${name.slice(1)} ${version}`;
  return 100 * major + minor < least ? undefined : { name, title, command };
}

/** The arguments that make a runtime run a program, which may have to collect garbage. */
export function programArgs(
  { name }: Runtime,
  file: string,
  collects: boolean,
): string[] {
  const { flags, gc } = SETUPS[name];
  return [...flags, ...collects && gc !== undefined ? [gc] : [], file];
}

/** A port that is free on 127.0.0.1: one of five digits, as the operating system gives them. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

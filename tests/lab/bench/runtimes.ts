/**
 * The runtimes that are measured: where they are, and their flags.
 */

import { spawnSync } from "node:child_process";
import process from "node:process";

/** The runtimes that are measured. */
export const RUNTIMES = ["deno", "bun", "node"] as const;
export type RuntimeName = typeof RUNTIMES[number];

/** What npm has, how a text is run, and how a program is. */
const SETUPS = {
  deno: { npm: "deno@2.9.6", evaluate: "eval", run: ["run", "-A"] },
  bun: { npm: "bun@1.4.5", evaluate: "-e", run: ["run"] },
  node: {
    npm: "node@26",
    evaluate: "-e",
    run: ["--disable-warning=ExperimentalWarning"],
  },
} as const;

/** A runtime, found. */
export interface Runtime {
  readonly name: RuntimeName;
  /** `Deno 2.9.6`. */
  readonly title: string;
  /** The executable itself, not a script around it, which would get the signals instead. */
  readonly command: string;
  /** What stands before the file of a program. */
  readonly flags: readonly string[];
}

const WHO = "console.log(JSON.stringify([process.execPath, " +
  "globalThis.Deno?.version.deno ?? process.versions.bun ?? process.versions.node]))";

/** Finds a runtime: from the environment (`PETSTORE_TEST_NODE`), on `PATH`, or from npm. */
export function findRuntime(name: RuntimeName): Runtime {
  const { npm, evaluate, run } = SETUPS[name];
  const own = process.env[`PETSTORE_TEST_${name.toUpperCase()}`] ?? name;
  for (const [program = "", ...args] of [[own], ["npx", "-yp", npm, name]]) {
    const { stdout, status } = spawnSync(program, [...args, evaluate, WHO], {
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
    if (status !== 0) continue;
    const [command, version] = JSON.parse(stdout);
    const title = `${name[0]?.toUpperCase()}${name.slice(1)} ${version}`;
    return { name, title, command, flags: run };
  }
  throw new Error(`${name} is not on PATH, and npm has no ${npm}`);
}

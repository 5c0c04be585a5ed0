/**
 * The runtime that runs the tests, and the others; how each runs a file; and how tests are skipped,
 * so that the reader learns what is missing.
 */

import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";

/** A runtime, and its program. */
export interface Runtime {
  readonly name: "deno" | "bun" | "node";
  readonly command: string;
}

/** The runtime that runs this test. */
export const RUNTIME: Runtime["name"] = "Deno" in globalThis
  ? "deno"
  : "Bun" in globalThis
  ? "bun"
  : "node";

/**
 * A runtime: named by the environment (`PETSTORE_TEST_NODE=/usr/bin/node22`), this one, or found on
 * `PATH`.
 */
export interface FoundRuntime extends Runtime {
  /** `2.9.6`; empty if it cannot be run. */
  readonly version: string;
  /** Why it is missing; `undefined` if it is there. */
  readonly missing: string | undefined;
}

const LEAST_VERSION = { deno: [2, 9], bun: [1, 4], node: [22, 18] } as const;

/** Looks for a runtime that is new enough. `env` is the environment. */
export function findRuntime(
  name: Runtime["name"],
  env: Readonly<Record<string, string | undefined>> = process.env,
): FoundRuntime {
  const variable = `PETSTORE_TEST_${name.toUpperCase()}`;
  const usual = name === RUNTIME ? process.execPath : name;
  const command = env[variable] ?? usual;
  const { stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
  const [version = ""] = /\d+\.\d+\.\d+/.exec(stdout ?? "") ?? [];
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor] = LEAST_VERSION[name];
  const isNew = major > leastMajor ||
    (major === leastMajor && minor >= leastMinor);
  const found = major === 0 ? "cannot be run" : `is ${name} ${major}.${minor}`;
  // `.ci/run` expects reasons that begin like this.
  const missing =
    `${command} is not ${name} ${leastMajor}.${leastMinor} or later, which the tests need (it ${found}): install it, or set ${variable}`;
  return { name, command, version, missing: isNew ? undefined : missing };
}

/** Looks for the three runtimes, and notes which are missing. */
export function findRuntimes(): readonly FoundRuntime[] {
  const names = ["deno", "bun", "node"] as const;
  const all = names.map((name) => findRuntime(name));
  for (const { missing } of all) skipping(missing ?? false);
  return all;
}

/** The words of a command that runs a file, by default on this runtime; `flags` are for Deno. */
export function commandLine(
  file: string,
  flags: readonly string[] = ["-A"],
  { name, command }: Runtime = { name: RUNTIME, command: process.execPath },
): readonly string[] {
  const before = {
    deno: ["run", ...flags],
    bun: [],
    node: ["--disable-warning=ExperimentalWarning"],
  };
  return [command, ...before[name], file];
}

/**
 * Records what is missing on this machine, so that tests are skipped, and returns it, for `skip` of
 * `node:test`. `tests/run.ts` prints the contents of the file that `TEST_SKIPPED` names. What is
 * for another runtime is skipped without a note.
 */
export function skipping(reason: string | false): string | false {
  if (reason === false) return false;
  const file = process.env.TEST_SKIPPED;
  if (file === undefined) console.warn(`Skipping tests: ${reason}`);
  else appendFileSync(file, `${reason}\n`);
  return reason;
}

/** Records that a program is missing on this machine, as {@linkcode skipping} does; `hint` says who has it. */
export function missing(program: string, hint?: string): string | false {
  const { error } = spawnSync(program, ["--version"]);
  const reason = [`${program} is missing`, hint].filter(Boolean).join(": ");
  return skipping(error !== undefined && reason);
}

/**
 * `test` of `node:test`; `test.skip` if there is a reason, such as what {@linkcode skipping}
 * returns.
 */
export function testUnless(reason: string | false): typeof test.skip {
  return reason === false ? test : test.skip;
}

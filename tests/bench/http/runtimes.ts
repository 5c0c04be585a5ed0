/**
 * Where the runtimes are: on `PATH`, or fetched by npm.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import process from "node:process";
import { findRuntimes as findInstalled } from "../../support/servers/start.ts";
import type { RuntimeName } from "../options.ts";

/** A runtime, found. */
export interface Runtime {
  readonly name: RuntimeName;
  /** Its executable itself, no script around it: that would be in the way of signals. */
  readonly command: string;
  readonly version: string;
}

/** What npm fetches where a runtime is not on `PATH`, or is too old. */
const PACKAGES = {
  deno: "deno@2.9.6",
  bun: "bun@1.4.5",
  node: "node@26",
} as const;

const ASK = "console.log(JSON.stringify([process.execPath, " +
  "globalThis.Deno?.version.deno ?? process.versions.bun ?? process.versions.node]))";

/**
 * Finds runtimes.
 *
 * @throws {Error} where one is neither there nor to be had from npm.
 */
export function findRuntimes(names: readonly RuntimeName[]): Runtime[] {
  const installed = findInstalled();
  return names.map((name) => {
    const found = installed.find((runtime) => runtime.name === name);
    return found !== undefined && found.missing === undefined
      ? ask(name, [found.command])
      : ask(name, ["npx", "-y", "-p", PACKAGES[name], "--", name]);
  });
}

/** Asks a runtime where and what it is. */
function ask(name: RuntimeName, [program = "", ...args]: string[]): Runtime {
  const flags = name === "deno" ? ["eval"] : ["-e"];
  const { stdout, stderr, status, error } = spawnSync(
    program,
    [...args, ...flags, ASK],
    {
      encoding: "utf8",
      timeout: 300_000,
      env: { ...process.env, NO_COLOR: "1" },
    },
  );
  const line = (stdout ?? "").trim().split("\n").at(-1) ?? "";
  if (status !== 0 || !line.startsWith("[")) {
    throw new Error(
      `Cannot find ${name}: it is not on PATH in a version that is new enough, and npx -p ${
        PACKAGES[name]
      } failed. ${error?.message ?? stderr}`,
    );
  }
  const [command, version] = JSON.parse(line);
  return { name, command, version };
}

/** The runtime that runs the tests, and how a runtime runs a file. */

import process from "node:process";

/** A runtime, and the program that it is. */
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

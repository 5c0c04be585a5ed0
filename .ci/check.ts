/**
 * Checks format, lint, types, the documentation of every entry, and that the package can be
 * published: `deno task check`. The types of the tests need the packages of `tests/deno.json`.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const config: { readonly exports: Readonly<Record<string, string>> } = JSON
  .parse(readFileSync(`${ROOT}deno.json`, "utf8"));
const entries = Object.values(config.exports);
const sources = ["mod.ts", "core", "adapters", "tests", ".ci"];

const steps: readonly (readonly string[])[] = [
  ["fmt", "--check"],
  ["lint"],
  ["check", "--config", "tests/deno.json", "--doc", ...sources],
  ["doc", "--lint", ...entries],
  ["publish", "--dry-run", "--allow-dirty"],
];

for (const args of steps) {
  // The dry run lists every file, which would bury the result.
  const stdio = args[0] === "publish" ? "pipe" : "inherit";
  const { status, stdout, stderr } = spawnSync("deno", args, {
    cwd: ROOT,
    stdio,
    encoding: "utf8",
  });
  if (status === 0) continue;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}`);
  process.exit(1);
}

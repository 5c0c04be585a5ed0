/**
 * The packages of the contestants, in a folder of their own: the service itself needs none.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("./contestants", import.meta.url));

/**
 * Installs the packages in the versions of `package-lock.json` when they are missing or the
 * file is newer.
 *
 * @throws {Error} when npm fails.
 */
export function install(): void {
  if (time("node_modules/.package-lock.json") >= time("package-lock.json")) {
    return;
  }
  console.error("Installing the packages of the contestants");
  const { status, stderr, error } = spawnSync("npm", [
    "ci",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ], { cwd: FOLDER, encoding: "utf8", timeout: 300_000 });
  if (status === 0) return;
  throw new Error(
    `Cannot install the packages of the contestants: ${
      error?.message ?? stderr
    }`,
  );
}

/** When a file was written, in ms; 0 when it is missing. */
function time(name: string): number {
  return statSync(`${FOLDER}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

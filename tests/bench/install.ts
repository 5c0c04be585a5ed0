/**
 * The packages of the bench, in a folder of their own: the service itself needs none.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("contestants", import.meta.url));

/** Installs what `package-lock.json` says, unless that was done since it changed. */
export function install(): void {
  const [lock = 0, installed = 0] = [
    "package-lock.json",
    "node_modules/.package-lock.json",
  ].map((name) =>
    statSync(`${FOLDER}/${name}`, { throwIfNoEntry: false })?.mtimeMs
  );
  if (installed >= lock) return;
  console.error("Installing the packages of the bench");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd: FOLDER, stdio: "ignore" });
}

/** The files of this repository, by their paths from its root. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the absolute path of a file or a folder. */
export function pathOf(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** Reads a file as text. */
export function readText(path: string): string {
  return readFileSync(pathOf(path), "utf8");
}

/** The root, with a slash at its end. */
export const ROOT: string = pathOf("");

/** Copies examples, to run them in other folders. */

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Writes a copy of an example into a folder, and returns its path. The copy imports the sources
 * instead of the package, and jose from the packages of the tests.
 */
export function placeExample(
  example: string,
  folder: string,
  edit: (program: string) => string = (program) => program,
): string {
  const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
  const { exports } = JSON.parse(read("deno.json"));
  const program = read(`docs/examples/${example}`)
    .replaceAll(
      /(?<=from )"@petstore\/service(.*?)"/g,
      (_name, entry) => `"${join(ROOT, exports[`.${entry}`])}"`,
    ).replaceAll('"jose"', () => `"${import.meta.resolve("jose")}"`);
  const path = join(folder, basename(example));
  writeFileSync(path, edit(program));
  return path;
}

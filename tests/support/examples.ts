/** Copies of the examples in `docs/examples/`, for runtimes that do not know the names of the package. */

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { exports }: { exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(ROOT, "deno.json"), "utf8"),
);

/**
 * Writes a copy of an example into a folder, and returns its path. The copy imports the sources in place of
 * the package, and jose from the packages of the tests.
 */
export function placeExample(
  example: string,
  folder: string,
  edit: (program: string) => string = (program) => program,
): string {
  const program = readFileSync(join(ROOT, "docs/examples", example), "utf8")
    .replaceAll(
      /(?<=from )"@petstore\/service(.*?)"/g,
      (_name, entry) => `"${join(ROOT, String(exports[`.${entry}`]))}"`,
    ).replaceAll('"jose"', () => `"${import.meta.resolve("jose")}"`);
  const path = join(folder, basename(example));
  writeFileSync(path, edit(program));
  return path;
}

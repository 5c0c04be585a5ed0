/** Copies examples, to run them in other folders. */

import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathOf, readText } from "./repository.ts";

/**
 * Writes a copy of an example into a folder, and returns its path. The copy imports the sources
 * instead of the package, and jose from the packages of the tests.
 */
export function placeExample(
  example: string,
  folder: string,
  edit: (program: string) => string = (program) => program,
): string {
  const { exports } = JSON.parse(readText("deno.json"));
  const program = readText(`docs/examples/${example}`)
    .replaceAll(
      /(?<=from )"@petstore\/service(.*?)"/g,
      (_name, entry) => `"${specifier(pathOf(exports[`.${entry}`]))}"`,
    ).replaceAll('"jose"', () => `"${import.meta.resolve("jose")}"`);
  const path = join(folder, basename(example));
  writeFileSync(path, edit(program));
  return path;
}

/** Escapes what has a meaning in a URL. Not a `file:` URL, which esbuild does not accept. */
function specifier(path: string): string {
  return path.replaceAll(/[%#?]/g, encodeURIComponent);
}

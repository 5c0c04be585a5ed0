/** Directories that are gone when a test, or all tests of a file, are over; and copies of examples for them. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

/** Makes a directory, and removes it with all that is in it after the last test of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "petstore-test-"));
  after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Names a new file for each call, in a directory of this kind. */
export function temporaryFiles(): () => string {
  const directory = temporaryDirectory();
  let files = 0;
  return () => join(directory, `${++files}.db`);
}

/** Makes a folder, which is gone after the test. */
export function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `work` in a new folder, which is gone afterwards. */
export async function inNewFolder(
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Writes a copy of an example into a folder, and returns its path. The copy imports the sources in place of
 * the package, and jose from the packages of the tests.
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

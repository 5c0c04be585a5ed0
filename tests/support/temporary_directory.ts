/** Directories that are removed when a test, or all tests of a file, are over. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { atEnd } from "./at_end.ts";

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

/** Makes a folder, which is removed after the test. */
export function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

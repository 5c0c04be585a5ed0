/** Directories that are gone when the tests of a file are over. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

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

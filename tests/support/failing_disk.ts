/** A disk that fails, or is full, for a process alone. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { pathOf } from "./repository.ts";

/**
 * Compiles `failing_disk.c`, and returns the path of the library; `undefined` if this machine
 * cannot.
 */
export function compileFailingDisk(folder: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  const source = pathOf("tests/support/programs/failing_disk.c");
  const library = join(folder, "failing_disk.so");
  const options = ["-shared", "-fPIC", "-o", library, source];
  const { status } = spawnSync("cc", [...options, "-ldl"]);
  return status === 0 ? library : undefined;
}

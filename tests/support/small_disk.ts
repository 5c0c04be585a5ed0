/** A small disk, which is soon full, and a disk that fails. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { skipping } from "./runtime.ts";

/** Why a test that needs a disk is skipped. */
export const NO_SMALL_DISK: string | false = skipping(
  !canMount() && "only root on Linux can mount a small disk",
);

/** Lends a file system of 4 MB in a folder. */
export async function withSmallDisk(
  folder: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const path = mkdtempSync(join(folder, "disk-"));
  execFileSync("mount", mountOptions(path));
  try {
    await use(path);
  } finally {
    execFileSync("umount", ["--lazy", path]);
  }
}

function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), "petstore-disk-"));
  const can = spawnSync("mount", mountOptions(path)).status === 0 &&
    spawnSync("umount", [path]).status === 0;
  rmSync(path, { recursive: true });
  return can;
}

function mountOptions(path: string): readonly string[] {
  return ["-t", "tmpfs", "-o", "size=4m", "tmpfs", path];
}

/**
 * Compiles `failing_disk.c`, and returns the path of the library; `undefined` if this machine
 * cannot.
 */
export function compileFailingDisk(folder: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  const source = new URL("programs/failing_disk.c", import.meta.url);
  const library = join(folder, "failing_disk.so");
  const options = ["-shared", "-fPIC", "-o", library, fileURLToPath(source)];
  const { status } = spawnSync("cc", [...options, "-ldl"]);
  return status === 0 ? library : undefined;
}

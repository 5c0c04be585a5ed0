/** A small disk, which is soon full. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skipping } from "./skipping.ts";

/** Why a test that needs one is skipped. */
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

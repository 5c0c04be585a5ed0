/** The command `copy`: copies all pets and issued API keys from one database to another. */

import process from "node:process";
import type { IfMissing, Transfer } from "../database/transfer.ts";
import { parseArguments, UsageError } from "./command_line.ts";
import { type LastingDatabase, readLastingDatabase } from "./config.ts";
import {
  type Copied,
  copyAll,
  type Result,
  RUN_AGAIN,
} from "./copy_records.ts";
import { giveBackPermissions, openPostgres } from "./open_storage.ts";
import { Progress } from "./progress.ts";

const HELP = `copy: copies all pets and API keys from one database to another

  copy FROM TO    each sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE

  --json          prints JSON

Ids and keys stay what they are. TO must be empty, or have what an earlier copy of FROM wrote: the
copy goes on after that. In the end both sides are read again and compared. Stop the servers first:
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
  const [from, to, ...more] = positionals;
  if (values.help || from === undefined) {
    return void process.stdout.write(HELP);
  }
  if (to === undefined || more.length > 0) {
    throw new UsageError("copy takes two addresses: copy FROM TO");
  }
  const databases = [
    readLastingDatabase("FROM", from),
    readLastingDatabase("TO", to),
  ] as const;
  const progress = new Progress(process.stderr);
  // The exit code of a signal is 128 and its number, as in a shell.
  const signals = [["SIGINT", 130], ["SIGTERM", 143]] as const;
  const listeners = signals.map(([signal, code]) => {
    const stop = () => {
      progress.note(`Stopped. ${RUN_AGAIN}`);
      process.exit(code);
    };
    process.on(signal, stop);
    return { signal, stop };
  });
  try {
    const result = await withBoth(databases, async (source, target) => {
      await onOpen(...databases);
      return await copyAll(source, target, progress);
    });
    process.stdout.write(values.json ? asJson(result) : asText(result));
    if (isEqual(result)) return;
    process.stderr.write(`${DIFFERENT}\n`);
    process.exitCode = 1;
  } finally {
    progress.end();
    for (const { signal, stop } of listeners) process.off(signal, stop);
  }
}

async function withBoth<T>(
  databases: readonly [LastingDatabase, LastingDatabase],
  work: (from: Transfer, to: Transfer) => Promise<T>,
): Promise<T> {
  const from = await open("FROM", databases[0], "refuse");
  try {
    const to = await open("TO", databases[1], "create");
    try {
      return await work(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function open(
  name: string,
  database: LastingDatabase,
  ifMissing: IfMissing,
): Promise<Transfer> {
  if (database.kind === "sqlite") {
    const { sqliteTransfer } = await import("../sqlite/transfer.ts");
    return await sqliteTransfer(database.path, ifMissing);
  }
  const { postgresTransfer } = await import("../postgres/transfer.ts");
  const connect = (url: string) => postgresTransfer(url, ifMissing);
  return await openPostgres(name, database.url, connect);
}

function isEqual(result: Result): boolean {
  return [result.pets, result.apiKeys].every(({ from, to }) =>
    from.count === to.count && from.sha256 === to.sha256
  );
}

function asText({ pets, apiKeys }: Result): string {
  const { copied, earlier } = pets;
  const there = earlier === 0 ? "" : ` (after ${earlier} that were there)`;
  const more = pets.more + apiKeys.more === 0
    ? ""
    : `\nFROM was written to meanwhile: it has more now (pets: ${pets.more}, API keys: ${apiKeys.more}).\n` +
      "Stop the servers that use it, and run the same command again: it copies those.\n";
  return `Copied pets: ${copied}${there}, API keys: ${apiKeys.copied}

${asTable("Pets    ", pets)}${asTable("API keys", apiKeys)}${more}`;
}

function asTable(title: string, { from, to }: Copied): string {
  const width = Math.max(from.count, to.count).toString().length;
  const cells = ({ count, sha256 }: Copied["from"]) =>
    `${String(count).padStart(width)}  SHA-256 ${sha256}\n`;
  const indent = " ".repeat(title.length);
  return `${title}  FROM  ${cells(from)}${indent}  TO    ${cells(to)}`;
}

// The names in JSON are stable.
function asJson(result: Result): string {
  const equal = isEqual(result);
  const json = ({ earlier: there, ...rest }: Copied) => ({ there, ...rest });
  const [animals, apiKeys] = [json(result.pets), json(result.apiKeys)];
  return `${JSON.stringify({ animals, apiKeys, equal })}\n`;
}

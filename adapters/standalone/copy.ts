/**
 * The command `copy`: copies all animals and issued API keys from one database to another.
 *
 * @module
 */

import process from "node:process";
import { StorageError } from "../../core/pets/pet_storage.ts";
import type { IfMissing, Transfer } from "../database/transfer.ts";
import { parseArguments, UsageError } from "./arguments.ts";
import {
  ConfigError,
  type LastingDatabase,
  readLastingDatabase,
} from "./config.ts";
import {
  animals,
  apiKeys,
  type Copied,
  copyRecords,
  readBeginning,
  type Summary,
} from "./copy_records.ts";
import { type Progress, progressOn } from "./progress.ts";

const COPY_HELP =
  `copy: copies all animals and API keys from one database to another

  copy FROM TO    each sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE

  --json          prints JSON

Ids and keys stay what they are. TO is to be empty, or to have what an earlier copy of FROM wrote: the
copy goes on after that. In the end both sides are read again and compared. Stop the servers first:
what they add meanwhile is copied by running the command again. PGPASSWORD keeps a password out of
the arguments, which others on this machine may see.
`;

/** Runs the command with the arguments that follow `copy`. */
export async function runCopy(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    json: { type: "boolean" },
  });
  const [from, to, ...more] = positionals;
  if (values.help || from === undefined) {
    return void process.stdout.write(COPY_HELP);
  }
  if (to === undefined || more.length > 0) {
    throw new UsageError("copy takes two addresses: copy FROM TO");
  }
  const databases = {
    from: readLastingDatabase("FROM", from),
    to: readLastingDatabase("TO", to),
  };

  const progress = progressOn(process.stderr);
  const stop = onSignal((code) => {
    progress.note(`Stopped. ${RUN_AGAIN}`);
    process.exit(code);
  });
  try {
    const result = await copy(databases, progress);
    process.stdout.write(
      values.json === true ? asJson(result) : asText(result),
    );
    if (isEqual(result)) return;
    process.stderr.write(`${DIFFERENT}\n`);
    process.exitCode = 1;
  } finally {
    progress.end();
    stop();
  }
}

const RUN_AGAIN =
  "Run the same command again: it goes on after the last animal that TO has";

const DIFFERENT =
  "TO is not the same as FROM. Stop all servers on both, and run the same command again; " +
  "if it refuses then, or ends like this, copy to an empty database";

/** What came of it. */
export interface Result {
  readonly animals: Copied;
  readonly apiKeys: Copied;
}

async function copy(
  databases: { readonly from: LastingDatabase; readonly to: LastingDatabase },
  progress: Progress,
): Promise<Result> {
  const from = await open("FROM", databases.from, "refuse");
  try {
    const to = await open("TO", databases.to, "create");
    try {
      return await copyAll(from, to, progress);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

export async function copyAll(
  from: Transfer,
  to: Transfer,
  progress: Progress,
): Promise<Result> {
  if (from.identity === to.identity) {
    throw new ConfigError("FROM and TO are the same database");
  }
  const pets = { from: from.pets, to: to.pets };
  const keys = { from: from.apiKeys, to: to.apiKeys };
  try {
    // Both are looked at before anything is written.
    const petsThere = await readBeginning(animals, pets, progress);
    await readBeginning(apiKeys, keys, progress);
    if (petsThere.count > 0) {
      progress.note(
        `TO has ${petsThere.count} animals of FROM already: going on after the id ${petsThere.last}`,
      );
    }
    const copiedPets = await copyRecords(animals, pets, petsThere, progress);
    // Animals take their time: here are the keys as they are now.
    const keysThere = await readBeginning(apiKeys, keys, progress);
    for (const key of keysThere.changed) await to.revokeApiKey(key);
    const copiedKeys = await copyRecords(apiKeys, keys, keysThere, progress);
    return { animals: copiedPets, apiKeys: copiedKeys };
  } catch (cause) {
    if (!(cause instanceof StorageError)) throw cause;
    throw new StorageError(cause.kind, `${cause.message}\n${RUN_AGAIN}`, {
      cause,
    });
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
  try {
    return await postgresTransfer(database.url, ifMissing);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new ConfigError(`${name} is wrong: ${cause.message}`, { cause });
  }
}

/** @returns no longer listens. */
function onSignal(handle: (code: number) => void): () => void {
  // As a shell has it: 128 and the number of the signal.
  const onInterrupt = () => handle(130);
  const onTerminate = () => handle(143);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return () => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
  };
}

function isEqual(result: Result): boolean {
  return [result.animals, result.apiKeys].every(({ from, to }) =>
    from.count === to.count && from.sha256 === to.sha256
  );
}

function asText(result: Result): string {
  const { animals, apiKeys } = result;
  const there = animals.there === 0
    ? ""
    : ` (after ${animals.there} that were there)`;
  const more = animals.more + apiKeys.more === 0
    ? ""
    : `\nFROM was written to meanwhile: it has more now (animals: ${animals.more}, API keys: ${apiKeys.more}).\n` +
      "Stop the servers that use it, and run the same command again: it copies those.\n";
  return `Copied animals: ${animals.copied}${there}, API keys: ${apiKeys.copied}

${asTable("Animals ", animals)}${asTable("API keys", apiKeys)}${more}`;
}

function asTable(title: string, { from, to }: Copied): string {
  const width = Math.max(...[from, to].map(({ count }) => `${count}`.length));
  const cells = ({ count, sha256 }: Summary) =>
    `${String(count).padStart(width)}  SHA-256 ${sha256}\n`;
  return `${title}  FROM  ${cells(from)}${" ".repeat(title.length)}  TO    ${
    cells(to)
  }`;
}

function asJson(result: Result): string {
  return `${JSON.stringify({ ...result, equal: isEqual(result) })}\n`;
}

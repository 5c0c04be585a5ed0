/**
 * The command `keys`: issues, lists and revokes API keys.
 *
 * @module
 */

import * as v from "valibot";
import { existsSync } from "node:fs";
import process from "node:process";
import {
  type ApiKeyRecord,
  type IssuedKeys,
  issuedKeys,
} from "../../core/keys/issued_keys.ts";
import { nameSchema } from "../../core/pets/new_pet.ts";
import { parseArguments, UsageError } from "./arguments.ts";
import { ConfigError, type Database, readConfig } from "./config.ts";
import { openStorage } from "./open_storage.ts";

const KEYS_HELP = `keys: issues, lists and revokes API keys

  keys issue NAME    issues a key for NAME and shows it, once
  keys list          lists all keys, without their secret
  keys revoke ID     revokes the key with this id; servers refuse it within a second

  --json             prints JSON

DATABASE_URL says where the keys are kept (sqlite:petstore.db), as it does for start.
`;

/** Does one thing and returns what to print. */
type Command = (keys: IssuedKeys) => Promise<string>;

/** Runs the command with the arguments that follow `keys`. */
export async function runKeys(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    json: { type: "boolean" },
  });
  const [action, ...operands] = positionals;
  if (values.help || action === undefined) {
    return void process.stdout.write(KEYS_HELP);
  }
  const command = commandFor(
    action,
    operands,
    values.json === true ? asJson : asText,
  );

  const { database } = readConfig(process.env);
  checkDatabase(database, action);
  const storage = await openStorage(database);
  try {
    process.stdout.write(await command(issuedKeys(storage.apiKeys)));
  } finally {
    await storage.close();
  }
}

/** How results are written. */
interface Format {
  issued(key: Awaited<ReturnType<IssuedKeys["issue"]>>): string;
  list(records: readonly ApiKeyRecord[]): string;
  revoked(record: ApiKeyRecord): string;
}

const asText: Format = {
  issued: ({ key, record }) =>
    `Key ${record.id} for ${
      printable(record.name)
    }. It is shown only now:\n\n    ${key}\n\n`,
  list: (records) => table(records),
  revoked: ({ id, name, revoked }) =>
    `Key ${id} for ${
      printable(name)
    } is revoked since ${revoked?.toISOString()}\n`,
};

const asJson: Format = {
  issued: ({ key, record }) => `${JSON.stringify({ ...plain(record), key })}\n`,
  list: (records) => `${JSON.stringify(records.map(plain))}\n`,
  revoked: (record) => `${JSON.stringify(plain(record))}\n`,
};

/** A record as programs read it: `revoked` is always there, `null` where the key is valid. */
function plain(record: ApiKeyRecord): Readonly<Record<string, unknown>> {
  return { ...record, revoked: record.revoked ?? null };
}

function commandFor(
  action: string,
  operands: readonly string[],
  format: Format,
): Command {
  const [operand, ...more] = operands;
  if (action === "list" && operand === undefined) {
    return async (keys) => format.list(await keys.list());
  }
  if (action === "issue" && operand !== undefined && more.length === 0) {
    checkName(operand);
    return async (keys) => format.issued(await keys.issue(operand));
  }
  if (action === "revoke" && operand !== undefined && more.length === 0) {
    return async (keys) => format.revoked(await revoke(keys, operand));
  }
  throw new UsageError(
    "keys takes one of: issue NAME (in quotes if it has spaces), list, revoke ID",
  );
}

function checkName(name: string): void {
  const check = v.safeParse(nameSchema, name);
  if (!check.success) {
    throw new UsageError(`The name of a key ${check.issues[0].message}`);
  }
}

async function revoke(keys: IssuedKeys, id: string): Promise<ApiKeyRecord> {
  const record = /^[1-9][0-9]{0,8}$/.test(id)
    ? await keys.revoke(Number(id))
    : undefined;
  if (record === undefined) {
    throw new ConfigError(
      `There is no key with the id ${JSON.stringify(id)}: see keys list`,
    );
  }
  return record;
}

function checkDatabase(database: Database, action: string): void {
  if (database.kind === "memory") {
    throw new ConfigError(
      "DATABASE_URL is memory:, where keys end with their server: use PETSTORE_API_KEYS instead",
    );
  }
  // Opening makes the file: only `issue` is meant to.
  if (
    database.kind === "sqlite" && action !== "issue" &&
    !existsSync(database.path)
  ) {
    throw new ConfigError(
      `There is no database at ${database.path}: set DATABASE_URL, or start the server`,
    );
  }
}

function table(records: readonly ApiKeyRecord[]): string {
  const rows = [
    ["ID", "CREATED", "REVOKED", "NAME"],
    ...records.map(({ id, name, created, revoked }) => [
      String(id),
      created.toISOString(),
      revoked?.toISOString() ?? "-",
      printable(name),
    ]),
  ];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  );
  return rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ") +
    "\n"
  ).join("");
}

/** A name without what a terminal would act on. */
function printable(name: string): string {
  return name.replace(/\p{C}/gu, "\u{FFFD}");
}

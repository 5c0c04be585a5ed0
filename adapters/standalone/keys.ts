/** The command `keys`: issues, lists and revokes API keys. */

import * as v from "valibot";
import { existsSync } from "node:fs";
import process from "node:process";
import {
  type ApiKeyRecord,
  type IssuedKeys,
  issuedKeys,
} from "../../core/keys/issued_keys.ts";
import { nameSchema } from "../../core/name.ts";
import { parseArguments, PROGRAM, UsageError } from "./command_line.ts";
import { check, ConfigError, readConfig, readInteger } from "./config.ts";
import { openStorage } from "./open_storage.ts";

const HELP = `keys: issues, lists and revokes API keys

Usage:    ${PROGRAM} keys (issue NAME | list | revoke ID) [--json | --quiet]
Example:  ${PROGRAM} keys issue "mobile app"

  issue NAME    issues a key for NAME and shows it, once
  list          lists all keys, without their secret
  revoke ID     revokes the key with this id; servers refuse it within a second

  --json        prints JSON
  --quiet       prints nothing but the key that was issued

DATABASE_URL says where the keys are kept (sqlite:petstore.db), as it does for start.
`;

/** Performs an action, and returns what to print: as JSON, as text, and the key that was issued. */
type Action = (keys: IssuedKeys) => Promise<{
  readonly json: unknown;
  readonly text: string;
  readonly key?: string;
}>;

/** Runs the command with the arguments that follow `keys`. */
export async function runKeys(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    json: { type: "boolean" },
    quiet: { type: "boolean" },
  });
  if (values.help || positionals.length === 0) {
    return void process.stdout.write(HELP);
  }
  const act = readAction(positionals);
  const isIssue = positionals[0] === "issue";
  if (values.quiet && (values.json || !isIssue)) {
    throw new UsageError("--quiet is for keys issue, without --json");
  }
  const { database } = readConfig(process.env);
  if (database.kind === "memory") {
    throw new ConfigError(
      "DATABASE_URL is memory:, where keys end with their server: use PETSTORE_API_KEYS instead",
    );
  }
  if (!isIssue && database.kind === "sqlite" && !existsSync(database.path)) {
    throw new ConfigError(
      `There is no database at ${database.path}: set DATABASE_URL, or start the server`,
    );
  }
  const storage = await openStorage(database);
  try {
    const { json, text, key } = await act(issuedKeys(storage.apiKeys));
    const output = values.quiet ? key : values.json && JSON.stringify(json);
    process.stdout.write(output ? `${output}\n` : text);
  } finally {
    await storage.close();
  }
}

function readAction([name, operand, ...more]: readonly string[]): Action {
  if (name === "list" && operand === undefined) return list;
  if (operand !== undefined && more.length === 0) {
    if (name === "revoke") return revoke(operand);
    if (name === "issue") return issue(operand);
  }
  throw new UsageError(
    "keys takes one of: issue NAME (in quotes if it has spaces), list, revoke ID",
  );
}

const list: Action = async (keys) => {
  const records = await keys.list();
  return { json: records.map(toJson), text: table(records) };
};

function issue(name: string): Action {
  const { issues } = v.safeParse(nameSchema, name);
  if (issues !== undefined) {
    throw new UsageError(`Cannot read NAME: it ${issues[0].message}`);
  }
  return async (keys) => {
    const { key, record } = await keys.issue(name);
    const title = `Key ${record.id} for ${printable(name)}`;
    const text = `${title}. It will not be shown again:\n\n    ${key}\n\n`;
    return { json: { ...toJson(record), key }, text, key };
  };
}

function revoke(operand: string): Action {
  const id = check(
    "ID",
    () => readInteger(operand, 999_999_999, 1),
    UsageError,
  );
  return async (keys) => {
    const record = await keys.revoke(id);
    if (record === undefined) {
      throw new ConfigError(`There is no key with the id ${id}: see keys list`);
    }
    const title = `Key ${id} for ${printable(record.name)}`;
    const since = record.revoked?.toISOString();
    const text = `${title} has been revoked since ${since}\n`;
    return { json: toJson(record), text };
  };
}

function toJson(record: ApiKeyRecord): Readonly<Record<string, unknown>> {
  return { ...record, revoked: record.revoked ?? null };
}

function table(records: readonly ApiKeyRecord[]): string {
  const time = (date?: Date) => (date?.toISOString() ?? "-").padEnd(24);
  const rows = records.map(({ id, created, revoked, name }) =>
    `${`${id}`.padEnd(5)} ${time(created)} ${time(revoked)} ${
      printable(name)
    }\n`
  );
  const gap = " ".repeat(18);
  return `ID    CREATED${gap}REVOKED${gap}NAME\n${rows.join("")}`;
}

/** A name without characters that a terminal would act on. */
function printable(name: string): string {
  return name.replace(/\p{C}/gu, "\u{FFFD}");
}

/** The command `keys`: issues, lists and revokes API keys. */

import { existsSync, fstatSync, statSync } from "node:fs";
import process from "node:process";
import { text as readText } from "node:stream/consumers";
import type { ApiKeyRecord } from "../../core/storage.ts";
import { nameProblem } from "../../core/kit.ts";
import { type IssuedKeys, issuedKeys } from "../keys/issued_keys.ts";
import { isIssuedForm } from "../keys/key_form.ts";
import {
  parseArguments,
  printable,
  PROGRAM,
  reportAndExit,
  UsageError,
} from "../program/command_line.ts";
import { check, integer } from "../program/values.ts";
import { type Config, readConfig } from "./config.ts";
import { describeDatabase, openStorage } from "./open_storage.ts";

const HELP = `keys: issues, lists and revokes API keys

Usage:    ${PROGRAM} keys (issue NAME [--expires 90d] | list | revoke ID | revoke KEY) [--json | --quiet]
Example:  ${PROGRAM} keys issue "mobile app"

  issue NAME    issues a key for NAME and shows it, once
  list          lists all keys, without their secret, and the day (UTC) on which each was last used
  revoke ID     revokes the key with this id; servers refuse it within a second
  revoke KEY    revokes this key; if KEY is -, it is read from standard input, which keeps it hidden

  --expires 90d servers refuse the key after this many days, up to 3650
  --json        prints JSON
  --quiet       prints only the key that was issued

DATABASE_URL says where the keys are kept (sqlite:petstore.db), as it does for start. Standard error
names that database.
`;

/** The columns of a list: their titles, widths and cells. */
const COLUMNS: readonly [string, number, (key: ApiKeyRecord) => string][] = [
  ["ID", 5, ({ id }) => `${id}`],
  ["CREATED", 20, ({ created }) => time(created)],
  ["LAST USED", 10, ({ lastUsed }) => day(lastUsed)],
  ["EXPIRES", 20, ({ expires }) => time(expires)],
  ["REVOKED", 20, ({ revoked }) => time(revoked)],
  ["NAME", 0, ({ name }) => name],
];

/** Performs an action, and returns what to print: JSON, text, or the key that was issued. */
type Action = (keys: IssuedKeys) => Promise<{
  readonly json: unknown;
  readonly text: string;
  readonly key?: string;
  /** What to do if it cannot be printed. */
  readonly ifLost?: string;
}>;

/** Runs the command with the arguments that follow `keys`. */
export async function runKeys(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    expires: { type: "string" },
    json: { type: "boolean" },
    quiet: { type: "boolean" },
  }, true);
  if (values.help || positionals.length === 0) {
    return void process.stdout.write(HELP);
  }
  const { expires } = values;
  const options = expires === undefined
    ? {}
    : { expires: check("--expires", () => readExpiry(expires), UsageError) };
  const isIssue = positionals[0] === "issue";
  if (expires !== undefined && !isIssue) {
    throw new UsageError("--expires is for keys issue");
  }
  if (values.quiet && (values.json || !isIssue)) {
    throw new UsageError("--quiet is for keys issue, without --json");
  }
  if (isIssue && isOutputLost()) {
    throw new Error(
      "Cannot issue a key: nobody would see it, because standard output is closed or /dev/null",
    );
  }
  const config = readConfig(process.env);
  const act = await readAction(positionals, options, config);
  const { database } = config;
  if (database.kind === "memory") {
    throw new Error(
      "Cannot use keys: DATABASE_URL is memory:, whose keys are lost when the server ends. Set PETSTORE_API_KEYS instead",
    );
  }
  const name = describeDatabase(database);
  const isNew = database.kind === "sqlite" && !existsSync(database.path);
  if (!isIssue && isNew) {
    throw new Error(
      `Cannot find a database at ${name}: set DATABASE_URL, or start the server`,
    );
  }
  const storage = await openStorage(config);
  const title = isNew ? "Made a new database" : "Database";
  if (!values.quiet) process.stderr.write(printable(`${title}: ${name}\n`));
  const done = await act(issuedKeys(storage.apiKeys))
    .finally(() => storage.close());
  const { json, text, key, ifLost = "" } = done;
  const output = values.quiet ? key : values.json && toPrintableJson(json);
  const fail = ({ message }: Error) =>
    reportAndExit(new Error(`${ifLost}${message}`));
  try {
    const written = output ? `${output}\n` : printable(text);
    process.stdout.write(written, (error) => error && fail(error));
  } catch (error) {
    // Deno 2.9 throws if a disk is full, because it writes synchronously
    // (`createWritableStdioStream`; denoland/deno#32433).
    fail(error as Error);
  }
}

/** Tells whether output goes to /dev/null, which a runtime also opens in place of a closed one. */
function isOutputLost(): boolean {
  try {
    const [output, none] = [fstatSync(1), statSync("/dev/null")];
    return output.isCharacterDevice() && output.rdev === none.rdev;
  } catch {
    return false; // on Windows there is no such file
  }
}

async function readAction(
  [name, operand, ...more]: readonly string[],
  options: { readonly expires?: Date },
  config: Config,
): Promise<Action> {
  if (name === "list" && operand === undefined) return list;
  if (operand !== undefined && more.length === 0) {
    if (name === "revoke") return revoke(await readIdOrKey(operand, config));
    if (name === "issue") return issue(operand, options);
  }
  throw new UsageError(
    "keys takes one of: issue NAME (in quotes if it has spaces), list, revoke ID, revoke KEY",
  );
}

const list: Action = async (keys) => {
  const records = await keys.list();
  return { json: records.map(toJson), text: table(records) };
};

function issue(name: string, options: { readonly expires?: Date }): Action {
  const problem = nameProblem(name);
  if (problem !== undefined) {
    throw new UsageError(`Cannot read NAME: it ${problem}`);
  }
  return async (keys) => {
    const { key, record } = await keys.issue(name, options);
    const { id, expires } = record;
    const what = expires ? `, valid until ${time(expires)}` : "";
    const text =
      `Key ${id} for ${name}${what}. It will not be shown again:\n\n    ${key}\n\n`;
    const ifLost =
      `Key ${id} is valid, but could not be shown. To revoke it, run: ${PROGRAM} keys revoke ${id}\n`;
    return { json: { ...toJson(record), key }, text, key, ifLost };
  };
}

function revoke(idOrKey: number | string): Action {
  return async (keys) => {
    const record = await keys.revoke(idOrKey);
    if (record === undefined) {
      const which = typeof idOrKey === "number" ? `key ${idOrKey}` : "this key";
      throw new Error(`Cannot find ${which}: see keys list`);
    }
    const revokedAt = record.revoked?.toISOString();
    const text =
      `Key ${record.id} for ${record.name} was revoked at ${revokedAt}\n`;
    return { json: toJson(record), text };
  };
}

/** Reads when a key expires, from a number of days such as `90d`. */
function readExpiry(text: string): Date {
  const days = Number(/^[1-9][0-9]{0,3}(?=d$)/.exec(text)?.[0]);
  if (days <= 3650) return new Date(Date.now() + days * 86_400_000);
  throw new Error(
    `it must be days, such as 90d, up to 3650d, not ${JSON.stringify(text)}`,
  );
}

/** Its errors do not show the operand, which may be a key. */
async function readIdOrKey(
  operand: string,
  { fixedKeys }: Config,
): Promise<number | string> {
  const given = operand === "-"
    ? (await readText(process.stdin)).trim()
    : operand;
  if (/^[0-9]+$/.test(given)) {
    return check("ID", () => integer(999_999_999, 1)(given), UsageError);
  }
  if (fixedKeys?.includes(given)) {
    throw new Error(
      "Cannot revoke a fixed key: remove it from PETSTORE_API_KEYS, and restart the servers",
    );
  }
  if (isIssuedForm(given)) return given;
  throw new UsageError(
    "Cannot read KEY: it is neither an id nor an issued key; fixed keys are in the servers' PETSTORE_API_KEYS",
  );
}

function toJson(record: ApiKeyRecord): Readonly<Record<string, unknown>> {
  const { revoked = null, expires = null } = record;
  const lastUsed = record.lastUsed ? day(record.lastUsed) : null;
  return { ...record, revoked, expires, lastUsed };
}

function table(records: readonly ApiKeyRecord[]): string {
  const titles = COLUMNS.map(([title, width]) => title.padEnd(width));
  const rows = records.map((record) =>
    COLUMNS.map(([, width, cell]) => cell(record).padEnd(width))
  );
  return [titles, ...rows].map((row) => `${row.join(" ")}\n`).join("");
}

/** A time to the second, and a day. */
const time = (date?: Date) => date?.toISOString().replace(/\.\d+/, "") ?? "-";
const day = (date?: Date) => date?.toISOString().slice(0, 10) ?? "-";

/** Returns JSON in which characters that a terminal would act on are escaped. */
function toPrintableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /\p{C}/gu,
    (characters) =>
      characters.split("").map((unit) =>
        `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      ).join(""),
  );
}

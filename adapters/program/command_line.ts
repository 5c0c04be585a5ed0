/** Shared by all commands: reads their arguments, and reports errors. */

import { readFileSync } from "node:fs";
import { parse } from "node:path";
import process from "node:process";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/** The version of the package, as in `deno.json`. */
export const VERSION = "1.0.0";

/** Thrown for arguments that a command does not accept. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Reads arguments. Every command also accepts `--help` and `-h`.
 *
 * @throws {UsageError} if an option is unknown, lacks its value, or takes none; and for a
 * positional argument, unless those are allowed.
 */
export function parseArguments<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  allowPositionals = false,
) {
  const help = { type: "boolean", short: "h" } as const;
  const config = { options: { ...options, help }, allowPositionals };
  try {
    const parsed = parseArgs({ ...config, args: [...args] });
    const empty = Object.entries(parsed.values).find(([, text]) => text === "");
    if (empty !== undefined) throw new Error(`Option '--${empty[0]}' is empty`);
    return parsed;
  } catch (cause) {
    // No command takes a positional argument that starts with a "-".
    const { message } = cause as Error;
    throw new UsageError(
      message.replace(/\. To specify a positional.*/, "").replace(
        /^Option '(.*)' argument is ambiguous[^]*/,
        `Option '$1' has no value; write '$1=-X' for one that begins with a dash`,
      ),
    );
  }
}

/**
 * Writes what went wrong to standard error, and exits with 2 if the arguments are wrong, otherwise
 * with 1.
 */
export function reportAndExit(cause: unknown): never {
  process.stderr.write(failureText(cause));
  process.exit(cause instanceof UsageError ? 2 : 1);
}

/** Says what went wrong, as a line. Only a bug in the program itself is shown with its stack. */
export function failureText(cause: unknown): string {
  return printable(`${missingPackage(cause) ?? explain(cause)}\n`);
}

/**
 * Reads a file of text. A byte order mark, which Windows editors write, is skipped.
 *
 * @throws {Error} if it cannot be read, or is not UTF-8.
 */
export function readUtf8(path: string): string {
  const bytes = readFileSync(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8 (Windows PowerShell's > writes UTF-16)");
  }
}

/** Replaces characters that a terminal would act on, except for line ends. */
export function printable(text: string): string {
  return text.replace(/[^\n\P{C}]/gu, "\u{FFFD}");
}

/** Tells whether this is the program of the npm package, which is JavaScript. */
export const IS_PACKAGE: boolean = import.meta.url.endsWith(".js");

/** Tells whether this is a single binary with its runtime, made by `bun build --compile`. */
export const IS_BINARY: boolean = /\$bunfs|~BUN/.test(import.meta.url);

/** Tells whether Deno loaded this from a URL, such as JSR's, and not from a folder. */
export const IS_REMOTE: boolean = /^https?:/.test(import.meta.url);

/** Runs Deno with nothing but npm. */
const NPX_DENO = "npx -y deno@2.9.6";

/** Returns the command that runs Deno's tasks, even if Deno itself runs through npx. */
export function taskCommand(deno: string): string {
  return /[\\/]_npx[\\/]/.test(deno) ? `${NPX_DENO} task` : "deno task";
}

const TASK = taskCommand(process.execPath);

/** The command that started this program, for messages that name a command. */
export const PROGRAM: string = IS_REMOTE
  ? "deno run jsr:@petstore/service/main"
  : IS_PACKAGE
  ? "npx --no petstore" // without --no, npx might fetch and run a package of that name
  : IS_BINARY
  ? `./${parse(process.execPath).base}`
  : "Deno" in globalThis
  ? TASK
  : `${parse(process.execPath).name} adapters/standalone/main.ts`; // bun or node

/** The command for programs with their own task in a clone: the sandbox, the judge, the exam. */
export const APART: string = IS_PACKAGE || IS_BINARY ? PROGRAM : TASK;

/**
 * Says how to install a missing package. A program run by npx does not see what `npm install` adds.
 */
export function howToInstall(name: string): string {
  if (IS_BINARY) return "this binary has none; the npm package and a clone do";
  if (IS_REMOTE) {
    return "a server that runs from an address has none; the npm package and a clone do";
  }
  if (!IS_PACKAGE) {
    return `run "${NPX_DENO} install" in the folder of the pet store`;
  }
  return import.meta.url.includes("/_npx/")
    ? `add "--package ${name}" to npx`
    : `run "npm install ${name}"`;
}

/** Says how to install the package that an `import` did not find; otherwise `undefined`. */
export function missingPackage(cause: unknown): string | undefined {
  const [, name] =
    /Cannot find (?:package|module) ['"]((?:@[\w-]+\/)?[\w-]+)['"]/.exec(
      String(cause),
    ) ?? [];
  return name &&
    `The package ${name} is not installed: ${howToInstall(name)}`;
}

function explain(cause: unknown): string {
  const { message, stack } = cause as Error;
  if (cause instanceof UsageError) return `${message}\nSee --help`;
  if (/: the address is in use$/.test(message)) {
    return `${message}; choose another port with --port`;
  }
  if (!IS_PACKAGE && !IS_REMOTE && /^Requires env access/.test(message)) {
    return message.replace("the --allow-env flag", "-P"); // a clone's deno.json grants all
  }
  const isMistake = [TypeError, RangeError, ReferenceError].some((type) =>
    cause instanceof type
  );
  return isMistake && stack || message;
}

/**
 * The end of a program that cannot go on.
 *
 * @module
 */

import process from "node:process";
import { UsageError } from "./arguments.ts";

/**
 * Writes what went wrong to standard error and exits: with 2 if the arguments are wrong, otherwise
 * with 1. Only a mistake in the program itself is written with its stack.
 */
export function reportAndExit(cause: unknown): never {
  process.stderr.write(`${missingPackage(cause) ?? explain(cause)}\n`);
  process.exit(cause instanceof UsageError ? 2 : 1);
}

/** Says how to install the package that an `import` did not find; `undefined` for any other error. */
export function missingPackage(cause: unknown): string | undefined {
  const [, name] =
    /^Cannot find (?:package|module) ['"]((?:@[\w-]+\/)?[\w-]+)['"]/.exec(
      cause instanceof Error ? cause.message : "",
    ) ?? [];
  return name &&
    `The package ${name} is not installed: run "npx -y deno@2.9.6 install" in the folder of the pet store`;
}

function explain(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof UsageError) return `${cause.message}\nSee --help`;
  const isMistake = [TypeError, RangeError, ReferenceError].some((type) =>
    cause instanceof type
  );
  return isMistake && cause.stack || cause.message;
}

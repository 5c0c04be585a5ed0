/**
 * How the standalone programs end when they cannot go on.
 *
 * @module
 */

import process from "node:process";
import { UsageError } from "./arguments.ts";
import { missingPackage } from "./missing_package.ts";

/**
 * Writes what went wrong to standard error and exits: with 2 if the arguments are wrong, otherwise
 * with 1. Only a mistake in the program itself is written with its stack.
 */
export function reportAndExit(cause: unknown): never {
  process.stderr.write(`${missingPackage(cause) ?? explain(cause)}\n`);
  process.exit(cause instanceof UsageError ? 2 : 1);
}

function explain(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof UsageError) return `${cause.message}\nSee --help`;
  const isMistake = [TypeError, RangeError, ReferenceError].some((type) =>
    cause instanceof type
  );
  return isMistake && cause.stack || cause.message;
}

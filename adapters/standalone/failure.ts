/**
 * How the standalone programs end when they cannot go on.
 *
 * @module
 */

import process from "node:process";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { UsageError } from "./arguments.ts";
import { ConfigError } from "./config.ts";

/**
 * Writes what went wrong on standard error and exits: with 2 where the call was wrong, with 1 else.
 * An error that tells an operator what to do is written as its message; any other with its stack.
 */
export function reportAndExit(cause: unknown): never {
  process.stderr.write(`${explain(cause)}\n`);
  process.exit(cause instanceof UsageError ? 2 : 1);
}

function explain(cause: unknown): string {
  if (cause instanceof UsageError) return `${cause.message}\nSee --help`;
  if (cause instanceof ConfigError || cause instanceof StorageError) {
    return cause.message;
  }
  if (!(cause instanceof Error)) return String(cause);
  return saysEnough(cause) || saysEnough(cause.cause)
    ? cause.message
    : cause.stack ?? cause.message;
}

/** What the system refuses (EADDRINUSE, and Deno's missing permissions) needs no stack. */
function saysEnough(cause: unknown): boolean {
  return cause instanceof Error &&
    (cause.name === "NotCapable" ||
      ("code" in cause && typeof cause.code === "string"));
}

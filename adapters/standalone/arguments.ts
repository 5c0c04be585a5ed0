/**
 * Command-line arguments.
 *
 * @module
 */

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/** Arguments that a command does not take. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Options by name, and the other arguments in order. */
export interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

/**
 * Reads arguments; every command also takes `--help` and `-h`.
 *
 * @throws {UsageError} if an option is unknown or lacks its value.
 */
export function parseArguments(
  args: readonly string[],
  options: ParseArgsOptionsConfig,
): Arguments {
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    }) as Arguments;
  } catch (cause) {
    const { message } = cause as Error;
    throw new UsageError(message, { cause });
  }
}

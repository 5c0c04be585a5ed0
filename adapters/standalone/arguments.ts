/**
 * Command-line arguments.
 *
 * @module
 */

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/** A command that was called in a wrong way. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What was given: options by name, and the other arguments in order. */
export interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

/**
 * Reads arguments; `--help` and `-h` are always among the options.
 *
 * @throws {UsageError} for an option that is unknown or lacks its value.
 */
export function parseArguments(
  args: readonly string[],
  options: ParseArgsOptionsConfig,
): Arguments {
  const help = { type: "boolean", short: "h" } as const;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...options, help },
      allowPositionals: true,
    });
    return { values: values as Arguments["values"], positionals };
  } catch (cause) {
    throw new UsageError(
      cause instanceof Error ? cause.message : String(cause),
      { cause },
    );
  }
}

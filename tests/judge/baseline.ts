/** Baselines: files that list the failures to accept. The judge and the exam have them. */

import { readUtf8, UsageError } from "../../adapters/program/command_line.ts";

/** What the lines of a baseline may say. */
export interface BaselineOptions {
  /** The command that reads it: `judge`. */
  readonly command: string;
  /** The word at the start of a line that counts, before a colon and a space: `fails`. */
  readonly word: string;
  /** What the rest of such a line must be one of. */
  readonly known: ReadonlySet<string>;
}

/**
 * Reads which failures to accept, from an earlier report or what is left of one. Other lines do not
 * matter.
 *
 * @throws {UsageError} if the file cannot be read, is a report in JSON or XML, or has an unknown
 * failure.
 */
export function readBaseline(
  file: string,
  { command, word, known }: BaselineOptions,
): ReadonlySet<string> {
  let text;
  try {
    text = readUtf8(file);
  } catch (cause) {
    throw new UsageError(
      `Cannot read the baseline ${file}: ${(cause as Error).message}`,
    );
  }
  const lines = text.matchAll(RegExp(`^${word}: (.*?)\\r?$`, "gm"));
  const accepted = new Set(Array.from(lines, ([, rest = ""]) => rest));
  // A text without such lines accepts nothing.
  if (accepted.size === 0 && /^\s*[{<]/.test(text)) {
    throw new UsageError(
      `${file} is JSON or XML: give a report that ${command} printed without --json and --junit`,
    );
  }
  for (const one of accepted) {
    if (known.has(one)) continue;
    throw new UsageError(
      `${file} has a line that ${command} does not know: ${word}: ${one}`,
    );
  }
  return accepted;
}

/**
 * Says on standard error which lines of a baseline are stale.
 *
 * @returns whether any is.
 */
export function reportStale(
  file: string,
  stale: readonly string[],
): boolean {
  for (const one of stale) {
    console.error(`No longer fails, so remove it from ${file}: ${one}`);
  }
  return stale.length > 0;
}

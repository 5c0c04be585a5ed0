/**
 * The commands of the program.
 *
 * @module
 */

import process from "node:process";
import { UsageError } from "./arguments.ts";
import { runCopy } from "./copy.ts";
import { reportAndExit } from "./failure.ts";
import { runKeys } from "./keys.ts";
import { runStart } from "./start.ts";

const HELP = `The pet store service

  start    runs the server
  keys     issues, lists and revokes API keys
  copy     copies all pets and API keys from one database to another

Add --help to a command to see its options.
`;

/** Runs the command that the arguments name. If it fails, says why and exits. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    await dispatch(args);
  } catch (cause) {
    reportAndExit(cause);
  }
}

async function dispatch([name, ...args]: readonly string[]): Promise<void> {
  switch (name) {
    case "start":
      return await runStart(args);
    case "keys":
      return await runKeys(args);
    case "copy":
      return await runCopy(args);
    case undefined:
    case "help":
    case "--help":
    case "-h":
      return void process.stdout.write(HELP);
    default:
      throw new UsageError(
        `There is no command ${JSON.stringify(name)}: use start, keys or copy`,
      );
  }
}

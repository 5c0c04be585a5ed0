/**
 * The pet store as a program: `start`, `keys` and `copy`, the same on Deno, Bun and Node.
 *
 * @module
 */

import module from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { checkRuntime } from "../../core/runtimes.ts"; // needs no package
import {
  APART,
  IS_BINARY,
  IS_REMOTE,
  PROGRAM,
  reportAndExit,
  UsageError,
  VERSION,
} from "../program/command_line.ts";

/**
 * Commands that are not part of this program. They are listed only where they are started in the
 * same way: by `bin.js` of the npm package, or as a task of a clone.
 */
const OTHERS = PROGRAM !== APART ? "" : `\
  sandbox  runs a pet store in memory, to test clients against
  judge    checks any service against the contract
  exam     examines a client: does it harm its caller when something fails
`;

const HELP = `The pet store service. Add --help to a command to see its options.

Usage:    ${PROGRAM} COMMAND
Example:  ${PROGRAM} start

  start    runs the server
  keys     issues, lists and revokes API keys
  copy     copies all pets and API keys to an empty database, for a move, a backup or a restore
${OTHERS}  version  prints the version
`;

// Commands are imported when they run: after `keepCompiledCode`, and so that a missing package is
// reported like any other error.
async function main([name, ...args]: readonly string[]): Promise<void> {
  checkRuntime();
  keepCompiledCode();
  hideWarning();
  // A server can continue without standard output; a key that could not be shown is lost.
  if (name !== "start") process.stdout.on("error", reportAndExit);
  switch (name) {
    case "start":
      await (await import("./start.ts")).runStart(args);
      // Node would write the cache only on a normal exit, so flush it now. Not on Bun 1.4: it also
      // writes on exit, and flushing now would cost the server 5 MB.
      if (!("Bun" in globalThis)) module.flushCompileCache?.();
      return;
    case "keys":
      return await (await import("./keys.ts")).runKeys(args);
    case "copy":
      return await (await import("./copy.ts")).runCopy(args);
    case "version": // `npx --no petstore --version` is npm's own
    case "--version":
      if (args.length > 0) throw new UsageError(`${name} takes no arguments`);
      return void process.stdout.write(`${VERSION}\n`);
    case undefined:
    case "help":
    case "--help":
    case "-h":
      return void process.stdout.write(HELP);
    default:
      throw new UsageError(`Unknown command ${JSON.stringify(name)}`);
  }
}

/** Lets Node and Bun cache compiled code, in NODE_COMPILE_CACHE or the folder of this program. */
function keepCompiledCode(): void {
  if (IS_BINARY || IS_REMOTE) return; // there is no folder
  const cache = new URL("../../node_modules/.cache/petstore", import.meta.url);
  module.enableCompileCache?.(fileURLToPath(cache)); // Deno 2.9 has no such function
}

/**
 * Hides Node 22's warning that its SQLite is experimental (seen in 22.23, not in 24): the tests run
 * on it. Can go when Node 22 is dropped.
 */
function hideWarning(): void {
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.message.startsWith("SQLite is an experimental")) return;
    for (const show of listeners) show(warning);
  });
}

main(process.argv.slice(2)).catch(reportAndExit);

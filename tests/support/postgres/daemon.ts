/** Servers as processes. */

import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { serverAccount } from "./account.ts";

/** Starts a command in the servers' account, and returns its process id. It writes to a file. */
export function startDaemon(command: readonly string[], log: string): number {
  const [program = "", ...args] = [...serverAccount().prefix, ...command];
  const output = openSync(log, "a");
  const child = spawn(program, args, {
    stdio: ["ignore", output, output],
    // Not the tests' own PGDATA, PGOPTIONS, LC_ALL and the like.
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    // Ctrl-C in a terminal is for the tests; the end of a server is up to them.
    detached: true,
  });
  closeSync(output);
  child.unref();
  if (child.pid === undefined) throw new Error(`Cannot run ${program}`);
  return child.pid;
}

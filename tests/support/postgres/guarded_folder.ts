/** Folders of servers that end with the process that made them. */

import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A new folder. */
export interface GuardedFolder {
  readonly path: string;
  /** Ends the server whose process id is in the file, and removes the folder. */
  readonly remove: () => Promise<void>;
}

/**
 * Makes a folder for a server. A process of its own waits beside it, `guard.sh`: were it a handler in
 * this process, a SIGKILL, or the deadline of a test runner, would leave the server running.
 *
 * @param pidFile the name of the file in the folder where the server writes its process id.
 * @param signal the one that ends the server at once, without SIG.
 */
export function guardedFolder(
  pidFile: string,
  signal: "QUIT" | "TERM",
): GuardedFolder {
  const path = mkdtempSync(join(tmpdir(), "petstore-postgres-"));
  const script = fileURLToPath(new URL("guard.sh", import.meta.url));
  const guard = spawn(
    "sh",
    [script, path, join(path, pidFile), signal],
    // Its own session, so that Ctrl-C in a terminal does not reach it.
    { stdio: ["pipe", "ignore", "ignore"], detached: true },
  );
  const gone = new Promise<void>((resolve) =>
    guard.once("exit", () => resolve())
  );
  guard.unref();
  return {
    path,
    async remove() {
      guard.ref();
      guard.stdin?.end();
      await gone;
    },
  };
}

/** The account that servers run in. PostgreSQL and PgBouncer refuse to run as root. */

import { chownSync, readFileSync } from "node:fs";
import process from "node:process";

/** An account of this machine. */
export interface Account {
  /** What a command line begins with, for the command to run in the account. Empty where it does anyway. */
  readonly prefix: readonly string[];
  /** Gives it a file or a folder. */
  readonly give: (path: string) => void;
}

/**
 * The account of this process; for root, `postgres` or else `nobody`. `setpriv` (util-linux) becomes
 * the command and does not fork, so that the process started is the server itself.
 */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return { prefix: [], give: () => {} };
  const passwd = readFileSync("/etc/passwd", "utf8");
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(passwd) ??
    /^nobody:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? ["", "65534", "65534"];
  return {
    prefix: `setpriv --reuid=${uid} --regid=${gid} --clear-groups --`.split(
      " ",
    ),
    give: (path) => chownSync(path, Number(uid), Number(gid)),
  };
}

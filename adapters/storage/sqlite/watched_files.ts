/**
 * Checks that the three files of an open database are those that were opened: the main file, its
 * log (`-wal`), and the index of the log (`-shm`), through which processes lock the file.
 */

import { existsSync, renameSync, statSync } from "node:fs";

/** The pause between two checks, in ms. */
export const CHECK_INTERVAL = 100;

const MAIN_IS_MISSING =
  "was deleted, moved or made unreadable while in use; save the pets that lists still show, then put the same file back; before you restore a backup, move -wal and -shm away";
const MAIN_IS_REPLACED =
  `was replaced while in use, and pets that were added in the ${CHECK_INTERVAL} ms before are in the old file only; save the pets that lists still show, then restart`;
const OTHER_IS_LOST =
  "was deleted or replaced while in use; restart this process before anything else uses the database";

/** What is wrong with a file that is no longer the one that was opened. */
export interface FileProblem {
  /** What happened, and what to do about it. */
  readonly message: string;
  /** The log or its index, which is lost for good. The main file may come back. */
  readonly lost?: WatchedFile;
}

type FileState = "in place" | "missing" | "replaced";

/** The files of an open database. */
export class WatchedFiles {
  readonly index: WatchedFile;
  readonly #main: WatchedFile;
  readonly #log: WatchedFile;
  /** The log or the index. It stays lost if it is moved back: others may have used another one. */
  #lost: WatchedFile | undefined;
  /** The version of the log when a check found that the main file is replaced. */
  #oldLog: string | undefined;

  constructor(path: string) {
    this.#main = new WatchedFile(path);
    this.#log = new WatchedFile(`${path}-wal`);
    this.index = new WatchedFile(`${path}-shm`);
  }

  /**
   * Returns false if a file is missing. Cheaper than `findProblem`, but does not notice a replaced
   * file.
   */
  doAllExist(): boolean {
    // Not with stat: after a stat of the log, the next COMMIT takes half as long again on Linux
    // 6.13 and later, because it then writes an exact time (Linux's document Multigrain
    // Timestamps).
    const files = [this.#main, this.#log, this.index];
    return files.every(({ path }) => existsSync(path));
  }

  findProblem(): FileProblem | undefined {
    // First the main file: while it is gone, the log stays as it is, for when it comes back.
    const state = this.#main.state();
    if (state !== "in place") {
      if (state === "replaced") this.#oldLog ??= this.#log.version();
      const what = state === "missing" ? MAIN_IS_MISSING : MAIN_IS_REPLACED;
      return { message: `${this.#main.path} ${what}` };
    }
    this.#oldLog = undefined;
    this.#lost ??= [this.#log, this.index]
      .find((file) => file.state() !== "in place");
    if (this.#lost === undefined) return undefined;
    const message = `${this.#lost.path} ${OTHER_IS_LOST}`;
    return { message, lost: this.#lost };
  }

  /**
   * Renames the log if the main file was replaced: a process that opens the new file would apply
   * the log to it. Leaves a log alone that another process has made since, or that has changed,
   * which shows that a process with the new file writes to it.
   *
   * `start` on Deno has given up the permission to rename (`giveBackPermissions`). There the log is
   * emptied instead.
   *
   * @param empty moves the log into the old file, unless that fails. Never throws.
   */
  setOldLogAside(empty: () => void): void {
    this.findProblem(); // The last check may have been before the file was replaced.
    if (this.#main.state() !== "replaced") return;
    if (this.#log.state() !== "in place") return;
    const { path } = this.#log;
    const aside = `${path}.replaced-${new Date().toISOString()}`;
    const what = `${this.#main.path} was replaced while in use`;
    if (this.#log.version() === this.#oldLog) {
      try {
        renameSync(path, aside);
        return console.warn(`${what}: the log of the old file is now ${aside}`);
      } catch {
        empty();
      }
    }
    const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0;
    console.warn(
      isEmpty
        ? `${what}: its log is now in the old file`
        : `${what}: unless a server already uses the new file, move ${path} away before the next start, or it damages the new file`,
    );
  }
}

/** A path, and the file that was there when it was opened. */
export class WatchedFile {
  readonly path: string;
  readonly #identity: string | undefined;

  constructor(path: string) {
    this.path = path;
    this.#identity = identify(path);
  }

  state(): FileState {
    const identity = identify(this.path);
    if (identity === this.#identity) return "in place";
    return identity === undefined ? "missing" : "replaced";
  }

  /** Returns a value that each write changes; `undefined` if the file cannot be reached. */
  version(): string | undefined {
    try {
      const { size, mtimeNs } = statSync(this.path, { bigint: true });
      return `${size}:${mtimeNs}`;
    } catch {
      return undefined;
    }
  }
}

/** Identifies the file at a path; `undefined` if it is missing or cannot be reached. */
export function identify(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

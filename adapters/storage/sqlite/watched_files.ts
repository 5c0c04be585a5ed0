/** The three files of an open database, and what is done if one of them is deleted or replaced. */

import { existsSync, realpathSync, renameSync, statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearInterval, setInterval } from "node:timers";

/** The pause between looks for a file that was replaced, or deleted while nothing is written, in ms. */
const LOOKING_INTERVAL = 100;

const MAIN_IS_MISSING =
  "was deleted, moved or made unreadable while in use; save the pets that lists still show, then put the same file back and restart; before you restore a backup, move -wal and -shm away";
const MAIN_IS_REPLACED =
  `was replaced while in use, and pets that were added in the ${LOOKING_INTERVAL} ms before are in the old file only; save the pets that lists still show, then restart`;
const OTHER_IS_MISSING =
  "was deleted or replaced while in use; restart this process before anything else uses the database";

/** Watches the files of a connection until it is closed. */
export class WatchedFiles {
  /** What the last look found wrong, and what to do about it. */
  problem: string | undefined;
  readonly #db: DatabaseSync;
  readonly #checkpoint: StatementSync;
  readonly #main: WatchedFile;
  readonly #log: WatchedFile;
  /** The index of the log, by which all who have the file open lock it. */
  readonly #index: WatchedFile;
  readonly #looking: ReturnType<typeof setInterval>;
  /** The log or its index, once it was missed. */
  #lost: WatchedFile | undefined;
  #isLogSaved = false;
  #areOthersLockedOut = false;

  constructor(path: string, db: DatabaseSync) {
    this.#db = db;
    this.#checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    // SQLite keeps the others beside the file that a symbolic link leads to.
    const file = realpathSync(path);
    this.#main = watch(file);
    this.#log = watch(`${file}-wal`);
    this.#index = watch(`${file}-shm`);
    this.#looking = setInterval(() => this.look(), LOOKING_INTERVAL).unref();
  }

  /** Returns what is wrong if what was just committed may be in a file that is gone. */
  afterCommit(): string | undefined {
    // Not by stat: after one of the log, the next COMMIT takes half as long again (Linux 6.13 and later, whose document
    // Multigrain Timestamps says why: it writes an exact time of the file then).
    const files = [this.#main, this.#log, this.#index];
    if (!files.every(({ path }) => existsSync(path))) this.look();
    return this.#isLogSaved ? undefined : this.problem;
  }

  /** Returns what is wrong now. The main file may come back; if another is missed, that is for good. */
  look(): string | undefined {
    if (!this.#db.isOpen) return this.problem;
    if (!this.#main.isInPlace()) {
      const what = this.#main.isReplaced() ? MAIN_IS_REPLACED : MAIN_IS_MISSING;
      return this.problem = `${this.#main.path} ${what}`;
    }
    this.#lost ??= [this.#log, this.#index].find((file) => !file.isInPlace());
    if (this.#lost === undefined) return this.problem = undefined;
    this.problem = `${this.#lost.path} ${OTHER_IS_MISSING}`;
    this.#secure(this.#lost);
    return this.problem;
  }

  /** Closes the connection, if that was not necessary before. */
  close(): void {
    if (!this.#db.isOpen) return;
    clearInterval(this.#looking);
    this.#db.close();
    if (this.#main.isReplaced() && this.#log.isInPlace()) this.#setLogAside();
  }

  /** Renames the log of a file that was replaced: whoever opens the new file would apply it to that. */
  #setLogAside(): void {
    const { path } = this.#log;
    const aside = `${path}.replaced-${new Date().toISOString()}`;
    const what = `${this.#main.path} was replaced while in use`;
    try {
      renameSync(path, aside);
      console.warn(`${what}: the log of the old file is now ${aside}`);
    } catch (error) {
      console.warn(
        `${what}: move ${path} away before the next start, or it damages the new file (it could not be renamed: ${error})`,
      );
    }
  }

  /**
   * Moves what the open log holds into the main file, and keeps others from writing with a new log or index.
   * Otherwise the last to close the file would do harm: SQLite then saves its log, and deletes what is at the paths
   * (its document Write-Ahead Logging, "The WAL File"). The test is tests/adapters/storage/sqlite/watched_files_test.ts.
   */
  #secure(lost: WatchedFile): void {
    // If something is in its place, others may have written with it: their frames would be mixed with ours.
    const isToSave = !this.#isLogSaved && !existsSync(lost.path);
    if (this.#areOthersLockedOut && !isToSave) return;
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    if (isToSave) this.#isLogSaved = this.#saveLog();
    // Alone, it locks the file; if others had it open before, the writing, by the index that all share.
    const isIndexInPlace = this.#index.isInPlace();
    this.#areOthersLockedOut = this.#lock("EXCLUSIVE") ||
      isIndexInPlace && this.#lock("NORMAL");
    if (this.#areOthersLockedOut || isIndexInPlace) return;
    if (existsSync(this.#index.path)) this.close(); // Others write, and see no lock of this connection.
  }

  /** Returns false if others are reading or the disk is full: then the next look tries again. */
  #saveLog(): boolean {
    try {
      const { log, checkpointed } = this.#checkpoint.get() ?? {};
      return log === checkpointed && Number(log) >= 0;
    } catch {
      return false;
    }
  }

  /** Begins a transaction that lasts until the connection is closed; returns false if others are in the way. */
  #lock(mode: "EXCLUSIVE" | "NORMAL"): boolean {
    try {
      this.#db.exec(`PRAGMA locking_mode = ${mode}; BEGIN IMMEDIATE`);
      return true;
    } catch {
      return false; // The next look tries again.
    }
  }
}

type WatchedFile = ReturnType<typeof watch>;

/** Remembers which file is at a path, to tell if it was deleted or replaced. */
function watch(path: string) {
  const identity = identify(path);
  return {
    path,
    isInPlace: () => identify(path) === identity,
    isReplaced: () => ![undefined, identity].includes(identify(path)),
  };
}

function identify(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined; // A folder of its path may be gone too, or may not be read any more.
  }
}

/**
 * Checks that the three files of an open database are those that were opened: the main file, its
 * log (`-wal`), and the index of the log (`-shm`), through which processes lock the file.
 *
 * ```text
 *   in place ◀──▶ main file gone
 *     └─────────▶ log lost ──▶ closed, if it gives up
 * ```
 *
 * - *Main file gone*: it was deleted, moved or replaced. Reads still see the old one. All is well
 *   again when the same file is back.
 * - *Log lost* (`#lost`): the log or its index was deleted or replaced. Nothing is written until a
 *   restart. `#protect` moves what the log holds into the main file, unless another file is in the
 *   place of the lost one, and takes a lock, so that no other process can write. If others write
 *   with a new index, it cannot get that lock, and gives up.
 */

import { existsSync, renameSync, statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The pause between two checks, in ms. */
export const CHECK_INTERVAL = 100;

const MAIN_IS_MISSING =
  "was deleted, moved or made unreadable while in use; save the pets that lists still show, then put the same file back; before you restore a backup, move -wal and -shm away";
const MAIN_IS_REPLACED =
  `was replaced while in use, and pets that were added in the ${CHECK_INTERVAL} ms before are in the old file only; save the pets that lists still show, then restart`;
const OTHER_IS_LOST =
  "was deleted or replaced while in use; restart this process before anything else uses the database";

type FileState = "in place" | "missing" | "replaced";

/** Who has the database open. */
interface Owner {
  prepare(sql: string): StatementSync;
  /** Closes the database soon. */
  close(): unknown;
}

/** The files of an open database. */
export class WatchedFiles {
  /** What the last check found: what happened, and what to do. `undefined` if all is well. */
  problem: string | undefined;
  readonly #db: DatabaseSync;
  readonly #owner: Owner;
  readonly #main: WatchedFile;
  readonly #log: WatchedFile;
  readonly #index: WatchedFile;
  /** The log or the index. It stays lost if it is moved back: others may have used another one. */
  #lost: WatchedFile | undefined;
  /** True once everything in the lost log is in the main file. */
  #isLogSaved = false;
  /** The version of the log when a check found that the main file is replaced. */
  #oldLog: string | undefined;

  constructor(path: string, db: DatabaseSync, owner: Owner) {
    this.#db = db;
    this.#owner = owner;
    this.#main = new WatchedFile(path);
    this.#log = new WatchedFile(`${path}-wal`);
    this.#index = new WatchedFile(`${path}-shm`);
  }

  /** Finds out what is wrong with the files. If the log or its index is lost, protects the pets. */
  check(): void {
    // First the main file: while it is gone, the log stays as it is, for when it comes back.
    const state = this.#main.state();
    if (state !== "in place") {
      if (state === "replaced") this.#oldLog ??= this.#log.version();
      const what = state === "missing" ? MAIN_IS_MISSING : MAIN_IS_REPLACED;
      this.problem = `${this.#main.path} ${what}`;
      return;
    }
    this.#oldLog = undefined;
    this.#lost ??= [this.#log, this.#index]
      .find((file) => file.state() !== "in place");
    this.problem = this.#lost && `${this.#lost.path} ${OTHER_IS_LOST}`;
    if (this.#lost !== undefined) this.#protect(this.#lost);
  }

  /**
   * Tells why what was just committed may be lost with a file that is gone; `undefined` if no file
   * is. Cheaper than `check`, but does not notice a replaced file.
   */
  findLoss(): string | undefined {
    // Not with stat: after a stat of the log, the next COMMIT takes half as long again on Linux
    // 6.13 and later, because it then writes an exact time (Linux's document Multigrain
    // Timestamps).
    const files = [this.#main, this.#log, this.#index];
    if (files.every(({ path }) => existsSync(path))) return undefined;
    this.check();
    // If the log is saved, so is the commit.
    return this.#isLogSaved ? undefined : this.problem;
  }

  /**
   * Renames the log if the main file was replaced: a process that opens the new file would apply
   * the log to it. Leaves a log alone that another process has made since, or that has changed,
   * which shows that a process with the new file writes to it.
   *
   * `start` on Deno has given up the permission to rename (`giveBackPermissions`). There the log is
   * moved into the old file instead, unless that fails.
   */
  setOldLogAside(): void {
    this.check(); // The last check may have been before the file was replaced.
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
        this.#saveLog("TRUNCATE");
      }
    }
    const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0;
    console.warn(
      isEmpty
        ? `${what}: its log is now in the old file`
        : `${what}: unless a server already uses the new file, move ${path} away before the next start, or it damages the new file`,
    );
  }

  /**
   * Saves what the open log holds, and keeps others from writing with a new log or index. Otherwise
   * the last process to close the file would do harm: SQLite then saves its log, and deletes the
   * files at the paths (its document Write-Ahead Logging, "The WAL File"). What fails here is
   * retried at the next check. Tested by tests/adapters/storage/sqlite/watched_files_test.ts.
   */
  #protect(lost: WatchedFile): void {
    // If another file is in its place, others may have written to it: their pages would mix with
    // ours.
    const mustSave = !this.#isLogSaved && lost.state() === "missing";
    // The lock is a transaction, which SQLite ends by itself if the disk fails under a read.
    if (this.#db.isTransaction && !mustSave) return;
    if (mustSave) this.#isLogSaved = this.#saveLog("PASSIVE");
    if (this.#lockOthersOut("EXCLUSIVE")) return;
    const index = this.#index.state();
    // All who have the file open share this index.
    if (index === "in place") this.#lockOthersOut("NORMAL");
    // Others write with the new index, and see no lock of this connection. While the index is
    // missing, nobody writes with a new one yet.
    if (index === "replaced") this.#owner.close();
  }

  /**
   * Moves the log into the main file; `TRUNCATE` also empties it. Returns false if that fails, or
   * if others are reading what is not moved yet.
   */
  #saveLog(mode: "PASSIVE" | "TRUNCATE"): boolean {
    try {
      // SQLite saves no log inside a transaction. This ends our own lock too.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      const sql = `PRAGMA wal_checkpoint(${mode})`;
      const row: unknown = this.#owner.prepare(sql).get();
      const [, pages, saved] = row as readonly [bigint, bigint, bigint];
      return pages === saved && pages >= 0n; // -1 if there is no log
    } catch {
      return false;
    }
  }

  /**
   * Begins a transaction that stays open, so that nobody else can write. Reads continue in it.
   *
   * @param mode `EXCLUSIVE` locks the whole file, and succeeds only if nobody else has it open.
   * `NORMAL` locks through the index, so that only processes that share it are blocked.
   * @returns false if others are in the way.
   */
  #lockOthersOut(mode: "EXCLUSIVE" | "NORMAL"): boolean {
    try {
      this.#db.exec(`PRAGMA locking_mode = ${mode}; BEGIN IMMEDIATE`);
      return true;
    } catch {
      return false;
    }
  }
}

/** A path, and the file that was there when it was opened. */
class WatchedFile {
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

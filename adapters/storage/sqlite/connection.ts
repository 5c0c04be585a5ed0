/**
 * The connection of a `SqliteFile` to its database, and what may be done with it.
 *
 * ```text
 *   in use ◀──▶ main file gone
 *     ├───────▶ damaged
 *     └───────▶ log lost ──▶ closed, if it gives up
 * ```
 *
 * It always reads until it is closed, but writes only while it is in use.
 *
 * - *In use*: there is no `#problem` and no `#damage`.
 * - *Main file gone* (`#problem` without `lost`): it was deleted, moved or replaced. Reads still
 *   see the old one. The connection is in use again when the same file is back.
 * - *Log lost* (`#problem.lost`): the log or its index was deleted or replaced. Nothing is written
 *   until a restart. `#protect` moves what the log holds into the main file, unless another file is
 *   in the place of the lost one, and takes a lock, so that no other process can write. If others
 *   write with a new index, it cannot get that lock, and gives up.
 * - *Damaged* (`#damage`): the disk failed, or the file is damaged. Nothing is written until a
 *   restart.
 * - *Closed*, by `SqliteFile.close`: only `assertNoProblem` may still be called.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storageError } from "../pet_database.ts";
import { isFatal, mayHaveCommitted, storageFault } from "./fault.ts";
import {
  type FileProblem,
  type WatchedFile,
  WatchedFiles,
} from "./watched_files.ts";

/** An open connection. */
export class Connection {
  readonly #db: DatabaseSync;
  readonly #files: WatchedFiles;
  readonly #giveUp: () => void;
  /** By their SQL. */
  readonly #statements = new Map<string, StatementSync>();
  /** What the last check of the files found; `undefined` if all are in place. */
  #problem: FileProblem | undefined;
  /** True once everything in the log is in the main file. */
  #isLogSaved = false;
  /** The error after which nothing more may be written; `undefined` if there was none. */
  #damage: unknown;

  /** @param giveUp sees to it that `close` is called soon. */
  constructor(path: string, db: DatabaseSync, giveUp: () => void) {
    this.#db = db;
    this.#files = new WatchedFiles(path);
    this.#giveUp = giveUp;
  }

  /**
   * Prepares a statement that returns rows as arrays and integers as `bigint` (`OPTIONS` in open.ts).
   *
   * Each SQL text is prepared once. Deno 2.9.6 keeps unused statements and frees them all in one
   * stall (1.7 s after 77,000), because `drop` in its ext/node_sqlite/statement.rs searches a list
   * of all of them for each. The map can go if the memory of a loop of `prepare` does not grow.
   */
  prepare(sql: string): StatementSync {
    const earlier = this.#statements.get(sql);
    if (earlier !== undefined) return earlier;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs all reads of a query in one transaction; otherwise SQLite locks the file for each. */
  snapshot<T>(query: () => T): T {
    // A transaction stays open after `#lockOthersOut`, or if it could not be rolled back.
    if (this.#db.isTransaction) return query();
    this.prepare("BEGIN").run();
    try {
      return query();
    } finally {
      this.#rollBack();
    }
  }

  /**
   * Runs `work` in a transaction that writes. Once it returns, the changes are in the log on disk.
   *
   * @throws {StorageError} `unavailable` if it may not write, `outcome_unknown` if the changes may
   * have been made; other errors unchanged.
   */
  transact<T>(action: string, work: () => T): T {
    // If the last check found nothing wrong, the next one by the timer is soon enough.
    if (this.#problem !== undefined || this.#damage !== undefined) {
      this.assertWritable(action);
    }
    const result = this.#commit(action, work);
    if (this.#files.doAllExist()) return result;
    // The commit may be in a file that is gone. If the log is saved, so is the commit.
    this.checkFiles();
    if (this.#problem === undefined || this.#isLogSaved) return result;
    throw storageError("outcome_unknown", action, this.#problem.message);
  }

  /**
   * Checks the files.
   *
   * @throws {StorageError} `unavailable` if nothing may be written.
   */
  assertWritable(action: string): void {
    if (this.#damage !== undefined) {
      const reason =
        "writing stopped after a disk error; check the disk, then restart";
      throw storageError("unavailable", action, reason, this.#damage);
    }
    this.checkFiles();
    this.assertNoProblem(action);
  }

  /** @throws {StorageError} `unavailable` if the last check of the files found a problem. */
  assertNoProblem(action: string): void {
    if (this.#problem === undefined) return;
    throw storageError("unavailable", action, this.#problem.message);
  }

  /** Finds out what is wrong with the files. If the log or its index is lost, protects the pets. */
  checkFiles(): void {
    this.#problem = this.#files.findProblem();
    if (this.#problem?.lost !== undefined) this.#protect(this.#problem.lost);
  }

  close(): void {
    this.#files.setOldLogAside(() => this.#saveLog("TRUNCATE"));
    this.#db.close();
  }

  #commit<T>(action: string, work: () => T): T {
    this.prepare("BEGIN IMMEDIATE").run();
    let isCommitting = false;
    try {
      const result = work();
      isCommitting = true;
      this.prepare("COMMIT").run();
      return result;
    } catch (error) {
      if (isFatal(error)) this.#damage ??= error;
      this.#rollBack();
      if (!isCommitting || !mayHaveCommitted(error)) throw error;
      throw storageFault(action, error, "outcome_unknown");
    }
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
    // SQLite saves no log inside a transaction. This ends our own lock too, which is taken again.
    this.#rollBack();
    if (mustSave) this.#isLogSaved = this.#saveLog();
    if (this.#lockOthersOut("EXCLUSIVE")) return;
    const index = this.#files.index.state();
    // All who have the file open share it.
    if (index === "in place") this.#lockOthersOut("NORMAL");
    // Others write with a new one, and see no lock of this connection. If it is missing, nobody
    // writes with a new one yet.
    if (index === "replaced") this.#giveUp();
  }

  /** Ends the transaction, if there is one. */
  #rollBack(): void {
    // SQLite may have rolled back by itself, for example when the disk is full (its document
    // Transaction, "Response To Errors Within A Transaction").
    if (!this.#db.isTransaction) return;
    try {
      this.prepare("ROLLBACK").run();
    } catch (error) {
      this.#damage ??= error;
    }
  }

  /**
   * Moves the log into the main file; `TRUNCATE` also empties it. Returns false if that fails, or
   * if others are reading what is not moved yet.
   */
  #saveLog(mode: "PASSIVE" | "TRUNCATE" = "PASSIVE"): boolean {
    try {
      const row: unknown = this.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
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

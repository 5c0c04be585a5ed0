/**
 * An open SQLite file. It is in one of these states:
 *
 * - In use: it reads and writes.
 * - Its main file is missing or replaced: it reads the old file and refuses to write, until the old
 *   file is back.
 * - Its log, or the index of the log, is lost: it reads, and refuses to write until a restart. What
 *   the log held is moved into the main file, unless another log is in its place, and a lock keeps
 *   all other processes from writing.
 *   If it cannot get that lock while they write with a new index, it closes.
 * - The disk failed, or the file is damaged: it continues to read, and refuses to write until a
 *   restart.
 * - Closed.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";
import { closedError, storageError } from "../pet_database.ts";
import { Connection } from "./connection.ts";
import { isBusy, storageFault } from "./fault.ts";
import {
  CHECK_INTERVAL,
  type FileProblem,
  type WatchedFile,
  WatchedFiles,
} from "./watched_files.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;

/** An open file. */
export class SqliteFile {
  readonly #connection: Connection;
  /** How long to wait for other processes that lock the file, in ms. */
  readonly #lockTimeout: number;
  readonly #files: WatchedFiles;
  readonly #checks: ReturnType<typeof setInterval>;
  /** What the last check found. */
  #problem: FileProblem | undefined;
  /** True once everything in the log is in the main file. */
  #isLogSaved = false;
  /** Resolves once all writes have ended. */
  #writes: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /**
   * If this throws, the caller closes `db`; otherwise `close` does.
   *
   * @param path of the file itself, not of a link to it: SQLite keeps the others next to it.
   */
  constructor(path: string, db: DatabaseSync, lockTimeout: number) {
    this.#connection = new Connection(db);
    this.#lockTimeout = lockTimeout;
    this.#files = new WatchedFiles(path);
    const check = () => this.#checkFiles();
    this.#checks = setInterval(check, CHECK_INTERVAL).unref();
  }

  /** Prepares a statement that returns rows as arrays and integers as `bigint`. */
  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** @throws {StorageError} `unavailable`; its message names the action: "get pet". */
  read<T>(action: string, query: () => T): Promise<T> {
    return this.#attempt(action, () => {
      // At each attempt: the file may be closed during the pause before it.
      this.#assertOpen(action);
      return query();
    });
  }

  /**
   * Reads for each item, all in one transaction. An error is the result of its own item.
   *
   * @throws {StorageError} `unavailable`, as `read` does.
   */
  readEach<Item, Result>(
    action: string,
    items: readonly Item[],
    query: (item: Item) => Result,
  ): Promise<readonly (Result | Error)[]> {
    const readItem = (item: Item) => {
      try {
        return query(item);
      } catch (error) {
        if (isBusy(error)) throw error;
        return storageFault(action, error) as Error; // nothing else is thrown
      }
    };
    const readAll = () => items.map(readItem);
    return this.read(
      action,
      // One statement needs no transaction: it would take up to a tenth of a request.
      items.length === 1 ? readAll : () => this.#connection.snapshot(readAll),
    );
  }

  /**
   * Runs `work` in a transaction, in one turn of the event loop. Runs it again if the file was
   * locked. Once this resolves, the changes are on disk.
   *
   * @throws {StorageError} `unavailable` if nothing happened, `outcome_unknown` if something may
   * have.
   */
  async write<T>(action: string, work: () => T): Promise<T> {
    // Once is enough: `close` waits for writes.
    this.#assertOpen(action);
    const done = this.#attempt(action, () => {
      // While there is no problem, the timer checks often enough.
      if (this.#problem !== undefined) this.#assertFilesInPlace(action);
      const result = this.#connection.transact(action, work);
      this.#assertCommitKept(action);
      return result;
    });
    // Without the results, which would be kept for ever.
    this.#writes = Promise.allSettled([this.#writes, done]).then(() => {});
    return await done;
  }

  /** Looks for the table of pets, and checks that the files are still those that were opened. */
  ping(): Promise<void> {
    const action = "reach the storage";
    const probe = "SELECT name FROM sqlite_schema WHERE name = 'pets'";
    return this.read(action, () => {
      if (this.prepare(probe).get() === undefined) {
        throw storageError("unavailable", action, "the table pets is missing");
      }
      this.#connection.assertUndamaged(action);
      this.#assertFilesInPlace(action);
    });
  }

  /** Finishes the writes under way and closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#writes.then(() => {
      clearInterval(this.#checks);
      this.#connection.close();
      this.#files.setOldLogAside();
    });
  }

  #attempt<T>(action: string, attempt: () => T): Promise<T> {
    const explain = (error: unknown) => storageFault(action, error);
    return retryWhileLocked(this.#lockTimeout, attempt, explain);
  }

  #assertOpen(action: string): void {
    if (this.#closing === undefined) return;
    this.#assertNoProblem(action); // It may have closed the file.
    throw closedError(action);
  }

  #assertFilesInPlace(action: string): void {
    this.#checkFiles();
    this.#assertNoProblem(action);
  }

  #assertNoProblem(action: string): void {
    if (this.#problem === undefined) return;
    throw storageError("unavailable", action, this.#problem.message);
  }

  /** @throws {StorageError} `outcome_unknown` if the last commit may be in a file that is gone. */
  #assertCommitKept(action: string): void {
    if (this.#files.doAllExist()) return;
    this.#checkFiles();
    // If the log is saved, so is the commit, which was in it.
    if (this.#problem === undefined || this.#isLogSaved) return;
    throw storageError("outcome_unknown", action, this.#problem.message);
  }

  /** Finds out what is wrong with the files. If the log or its index is lost, protects the pets. */
  #checkFiles(): void {
    this.#problem = this.#files.findProblem();
    if (this.#problem?.lost !== undefined) this.#protect(this.#problem.lost);
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
    if (this.#connection.locksOthersOut && !mustSave) return;
    // SQLite saves no log inside a transaction. This ends our own lock too, which is taken again.
    this.#connection.rollBack();
    if (mustSave) this.#isLogSaved = this.#connection.saveLog();
    if (this.#connection.lockOthersOut("file")) return;
    switch (this.#files.index.state()) {
      case "in place": // all who have the file open share it
        this.#connection.lockOthersOut("writes");
        return;
      case "missing": // nobody writes with a new one yet
        return;
      case "replaced": // others write with it, and see no lock of this connection
        this.close();
    }
  }
}

/**
 * Repeats an attempt while other processes lock the file, for at most `lockTimeout` ms. SQLite's
 * own `busy_timeout` would block the event loop meanwhile (1.8 s seen).
 *
 * @throws what `explain` makes of the last error.
 */
export async function retryWhileLocked<T>(
  lockTimeout: number,
  attempt: () => T,
  explain: (error: unknown) => unknown,
): Promise<T> {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) {
        throw explain(error);
      }
    }
    await delay(Math.random() * MAX_PAUSE);
  }
}

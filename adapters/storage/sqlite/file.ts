/**
 * An open SQLite file. Its methods wait while other processes lock it, and `close` waits for its
 * writes. It owns the connection to the database.
 *
 * - It reads until it is closed, but writes only while its files are in place (`watched_files.ts`)
 *   and it is not damaged.
 * - *Damaged* (`#damage`): a write met a failed disk or a damaged file, or could not be rolled
 *   back. Nothing is written until a restart.
 * - *Closing* (`#closing`): it refuses everything, finishes the writes under way, and then closes
 *   the connection.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";
import { closedError, storageError } from "../pet_database.ts";
import { isBusy, isFatal, mayHaveCommitted, storageFault } from "./fault.ts";
import { CHECK_INTERVAL, WatchedFiles } from "./watched_files.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;

/** An open file. */
export class SqliteFile {
  readonly #db: DatabaseSync;
  readonly #files: WatchedFiles;
  /** How long to wait for other processes that lock the file, in ms. */
  readonly #lockTimeout: number;
  readonly #checks: ReturnType<typeof setInterval>;
  /** By their SQL. */
  readonly #statements = new Map<string, StatementSync>();
  /** The error after which nothing more may be written; `undefined` if there was none. */
  #damage: unknown;
  /** Resolves once all writes have ended. */
  #writes: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /**
   * Takes over `db`, which `close` closes.
   *
   * @param path of the file itself, not of a link to it: SQLite keeps its other files beside it.
   */
  constructor(path: string, db: DatabaseSync, lockTimeout: number) {
    this.#db = db;
    this.#files = new WatchedFiles(path, db, this);
    this.#lockTimeout = lockTimeout;
    const check = () => this.#files.check();
    this.#checks = setInterval(check, CHECK_INTERVAL).unref();
  }

  /**
   * Prepares a statement that returns rows as arrays and integers as `bigint` (`OPTIONS` in
   * open.ts).
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

  /**
   * @throws {StorageError} `unavailable`; its message names the action: "get pet". Errors that are
   * not SQLite's are thrown unchanged.
   */
  read<T>(action: string, query: () => T): Promise<T> {
    return this.#attempt(action, () => {
      // At each attempt: the file may be closed during the pause before it.
      this.#assertOpen(action);
      return query();
    });
  }

  /**
   * Reads for each item, several in one transaction. An error is the result of its own item.
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
    return this.read(action, () => {
      // A single read needs no transaction, which would take up to a tenth of a request; several
      // would each lock the file without one. A transaction may be open already: the lock of
      // watched_files.ts, or one that could not be rolled back.
      if (items.length === 1 || this.#db.isTransaction) {
        return items.map(readItem);
      }
      this.prepare("BEGIN").run();
      try {
        return items.map(readItem);
      } finally {
        this.#rollBack();
      }
    });
  }

  /**
   * Runs `work` in a transaction, in one turn of the event loop. Runs it again if the file was
   * locked. Once this resolves, the changes are in the log on disk.
   *
   * @throws {StorageError} `unavailable` if nothing happened, `outcome_unknown` if something may
   * have.
   */
  async write<T>(action: string, work: () => T): Promise<T> {
    this.#assertOpen(action); // Once is enough: `close` waits for writes.
    const done = this.#attempt(action, () => this.#transact(action, work));
    // Without the results, which would be kept for ever.
    this.#writes = Promise.allSettled([this.#writes, done]).then(() => {});
    return await done;
  }

  /** Looks for the table of pets, and checks that it could be written. */
  ping(): Promise<void> {
    const action = "reach the storage";
    const probe = "SELECT name FROM sqlite_schema WHERE name = 'pets'";
    return this.read(action, () => {
      if (this.prepare(probe).get() === undefined) {
        throw storageError("unavailable", action, "the table pets is missing");
      }
      this.#files.check();
      this.#assertWritable(action);
    });
  }

  /** Finishes the writes under way and closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#writes.then(() => {
      clearInterval(this.#checks);
      this.#files.setOldLogAside();
      this.#db.close();
    });
  }

  #attempt<T>(action: string, attempt: () => T): Promise<T> {
    const explain = (error: unknown) => storageFault(action, error);
    return retryWhileLocked(this.#lockTimeout, attempt, explain);
  }

  #transact<T>(action: string, work: () => T): T {
    this.#assertWritable(action);
    this.prepare("BEGIN IMMEDIATE").run();
    let isCommitting = false;
    let result: T;
    try {
      result = work();
      isCommitting = true;
      this.prepare("COMMIT").run();
    } catch (error) {
      if (isFatal(error)) this.#damage ??= error;
      this.#rollBack();
      if (!isCommitting || !mayHaveCommitted(error)) throw error;
      throw storageFault(action, error, "outcome_unknown");
    }
    const loss = this.#files.findLoss();
    if (loss === undefined) return result;
    throw storageError("outcome_unknown", action, loss);
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

  /** @throws {StorageError} `unavailable` if nothing may be written. */
  #assertWritable(action: string): void {
    if (this.#damage !== undefined) {
      const reason =
        "writing stopped after a disk error; check the disk, then restart";
      throw storageError("unavailable", action, reason, this.#damage);
    }
    this.#assertInPlace(action);
  }

  /** @throws {StorageError} `unavailable` if the file is closed; says why, if it closed itself. */
  #assertOpen(action: string): void {
    if (this.#closing === undefined) return;
    this.#assertInPlace(action);
    throw closedError(action);
  }

  /** @throws {StorageError} `unavailable` if the last check of the files found a problem. */
  #assertInPlace(action: string): void {
    if (this.#files.problem === undefined) return;
    throw storageError("unavailable", action, this.#files.problem);
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

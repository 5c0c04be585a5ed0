/** A connection to an SQLite file: waits for other processes, writes no more after a disk error. */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import {
  fault,
  isBusy,
  isFatal,
  mayHaveCommitted,
  storageFault,
} from "./fault.ts";
import { WatchedFiles } from "./watched_files.ts";
import { closedError } from "../pet_database.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;

/** An open file. */
export class SqliteFile {
  readonly #db: DatabaseSync;
  /** The longest wait for other processes that lock the file, in ms. */
  readonly #lockTimeout: number;
  /** By their SQL. */
  readonly #statements = new Map<string, StatementSync>();
  readonly #begin: StatementSync;
  readonly #beginWrite: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #files: WatchedFiles;
  /** Fulfilled once all writes have ended. */
  #writes: Promise<unknown> = Promise.resolve();
  #damage: unknown;
  #closing: Promise<void> | undefined;

  /** If this throws, the caller closes `db`; otherwise `close` does. */
  constructor(path: string, db: DatabaseSync, lockTimeout: number) {
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    this.#begin = this.prepare("BEGIN");
    this.#beginWrite = this.prepare("BEGIN IMMEDIATE");
    this.#commit = this.prepare("COMMIT");
    this.#rollback = this.prepare("ROLLBACK");
    this.#files = new WatchedFiles(path, db);
  }

  /**
   * Prepares a statement that returns rows as arrays and integers as `bigint`; once for each text, because
   * Deno 2.9.6 keeps those that are not used any more, and frees them in one stall (1.7 s after 77,000: `drop` in its
   * ext/node_sqlite/statement.rs searches a list of them all for each). Can go if the memory of a loop of `prepare`
   * does not grow.
   */
  prepare(sql: string): StatementSync {
    const earlier = this.#statements.get(sql);
    if (earlier !== undefined) return earlier;
    // Deno 2.9 has the method, but no type for it: can go if `deno check` passes without that.
    const statement: StatementSync & { setReturnArrays?(is: boolean): void } =
      this.#db.prepare(sql);
    // For COMMIT too: Node 26 throws after it if the last id does not fit a number (nodejs/node#65177, as documented).
    // Can go there if tests/adapters/storage/sqlite/tables_test.ts passes on Node without it.
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** @throws {StorageError} `unavailable`; its message names the action: "get pet". */
  read<T>(action: string, query: () => T): Promise<T> {
    return this.#attempt(action, () => {
      this.#assertOpen(action);
      return query();
    });
  }

  /**
   * Reads for each item, all in one transaction: without it SQLite locks and unlocks the file for each.
   * An error is the result of its own item.
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
        return storageFault(action, error) as Error; // nobody throws anything else
      }
    };
    return this.read(action, () => {
      if (this.#db.isTransaction) return items.map(readItem); // what #files began
      this.#begin.run();
      try {
        return items.map(readItem);
      } finally {
        this.#rollBack();
      }
    });
  }

  /**
   * Runs `work` in a transaction, in one turn of the event loop; again if the file was locked. Once
   * fulfilled, its changes are on disk.
   *
   * @throws {StorageError} `unavailable` if nothing happened, `outcome_unknown` if it may have.
   */
  async write<T>(action: string, work: () => T): Promise<T> {
    this.#assertOpen(action);
    const done = this.#attempt(action, () => this.#transact(action, work));
    // Without their results, which would be kept for ever.
    this.#writes = Promise.allSettled([this.#writes, done]).then(() => {});
    return await done;
  }

  /** Looks for the table of pets, and checks that the files are still those that were opened. */
  async ping(): Promise<void> {
    const action = "reach the storage";
    const probe = "SELECT name FROM sqlite_schema WHERE name = 'pets'";
    const table = await this.read(action, () => this.prepare(probe).get());
    if (table === undefined) {
      throw fault("unavailable", action, "the table pets is missing");
    }
    this.#assertUndamaged(action);
    this.#assertInPlace(action);
  }

  /** Finishes the writes under way and closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#writes.then(() => this.#files.close());
  }

  #attempt<T>(action: string, attempt: () => T): Promise<T> {
    const explain = (error: unknown) => storageFault(action, error);
    return patiently(this.#lockTimeout, attempt, explain);
  }

  #transact<T>(action: string, work: () => T): T {
    this.#assertUndamaged(action);
    if (this.#files.problem !== undefined) this.#assertInPlace(action);
    this.#beginWrite.run();
    let isCommitting = false;
    let result: T;
    try {
      result = work();
      isCommitting = true;
      this.#commit.run();
    } catch (error) {
      const isUnknown = isCommitting && mayHaveCommitted(error);
      if (isFatal(error)) this.#damage ??= error;
      this.#rollBack();
      if (isUnknown) throw storageFault(action, error, "outcome_unknown");
      throw error;
    }
    const problem = this.#files.afterCommit();
    if (problem === undefined) return result;
    throw fault("outcome_unknown", action, problem);
  }

  #rollBack(): void {
    // SQLite may have rolled back by itself, as when the disk is full (its document Transaction, "Response To Errors
    // Within A Transaction").
    if (!this.#db.isTransaction) return;
    try {
      this.#rollback.run();
    } catch (error) {
      this.#damage ??= error;
    }
  }

  #assertOpen(action: string): void {
    if (this.#closing !== undefined) throw closedError(action);
    if (!this.#db.isOpen) this.#assertInPlace(action);
  }

  #assertUndamaged(action: string): void {
    if (this.#damage === undefined) return;
    const reason =
      "writing stopped after a disk error; check the disk, then restart";
    throw fault("unavailable", action, reason, this.#damage);
  }

  #assertInPlace(action: string): void {
    const problem = this.#files.look();
    if (problem !== undefined) throw fault("unavailable", action, problem);
  }
}

/**
 * Repeats an attempt while other processes lock the file, for at most `lockTimeout` ms. SQLite's own
 * `busy_timeout` would block the event loop meanwhile (1.8 s were seen). Throws what `explain` makes of the
 * last error.
 */
export async function patiently<T>(
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

/** A connection to an SQLite file: its statements, and its transactions. Nobody else uses it. */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storageError } from "../pet_database.ts";
import { isFatal, mayHaveCommitted, storageFault } from "./fault.ts";

/** An open connection. */
export class Connection {
  readonly #db: DatabaseSync;
  /** By their SQL. */
  readonly #statements = new Map<string, StatementSync>();
  /** The error after which nothing more may be written. */
  #damage: unknown;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /**
   * True after `lockOthersOut`, until its transaction ends. SQLite ends it by itself if the disk
   * fails (its document Transaction, "Response To Errors Within A Transaction").
   */
  get locksOthersOut(): boolean {
    return this.#db.isTransaction;
  }

  /**
   * Prepares a statement that returns rows as arrays and integers as `bigint`.
   *
   * Each SQL text is prepared once. Deno 2.9.6 keeps unused statements and frees them all in one
   * stall (1.7 s after 77,000), because `drop` in its ext/node_sqlite/statement.rs searches a list
   * of all of them for each. The map can go if the memory of a loop of `prepare` does not grow.
   */
  prepare(sql: string): StatementSync {
    const earlier = this.#statements.get(sql);
    if (earlier !== undefined) return earlier;
    // Deno 2.9 has the method but no type for it. The type can go if `deno check` passes without
    // it.
    const statement: StatementSync & { setReturnArrays?(is: boolean): void } =
      this.#db.prepare(sql);
    // For COMMIT too: Node 26 throws after it if the last id does not fit a number
    // (nodejs/node#65177, as documented). That can go if
    // tests/adapters/storage/sqlite/faults_test.ts passes on Node without it.
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs all reads of a query in one transaction; otherwise SQLite locks the file for each. */
  snapshot<T>(query: () => T): T {
    // A transaction stays open after `lockOthersOut`, or if it could not be rolled back.
    if (this.#db.isTransaction) return query();
    this.prepare("BEGIN").run();
    try {
      return query();
    } finally {
      this.rollBack();
    }
  }

  /**
   * Runs `work` in a transaction that writes. Once it returns, the changes are in the log on disk.
   *
   * @throws {StorageError} `outcome_unknown` if the changes may have been made; other errors
   * unchanged.
   */
  transact<T>(action: string, work: () => T): T {
    this.assertUndamaged(action);
    this.prepare("BEGIN IMMEDIATE").run();
    let isCommitting = false;
    try {
      const result = work();
      isCommitting = true;
      this.prepare("COMMIT").run();
      return result;
    } catch (error) {
      if (isFatal(error)) this.#damage ??= error;
      this.rollBack();
      if (!isCommitting || !mayHaveCommitted(error)) throw error;
      throw storageFault(action, error, "outcome_unknown");
    }
  }

  /** Ends the transaction, if there is one. */
  rollBack(): void {
    // SQLite may have rolled back by itself, for example when the disk is full (its document
    // Transaction, "Response To Errors Within A Transaction").
    if (!this.#db.isTransaction) return;
    try {
      this.prepare("ROLLBACK").run();
    } catch (error) {
      this.#damage ??= error;
    }
  }

  /** @throws {StorageError} `unavailable` if an earlier error forbids writing. */
  assertUndamaged(action: string): void {
    if (this.#damage === undefined) return;
    const reason =
      "writing stopped after a disk error; check the disk, then restart";
    throw storageError("unavailable", action, reason, this.#damage);
  }

  /**
   * Moves the log into the main file. Returns false if that fails, or if others are reading what is
   * not moved yet.
   */
  saveLog(): boolean {
    try {
      const row: unknown = this.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
      const [, pages, saved] = row as readonly [bigint, bigint, bigint];
      return pages === saved && pages >= 0n; // -1 if there is no log
    } catch {
      return false;
    }
  }

  /**
   * Begins a transaction that stays open, so that nobody else can write. Reads continue in it.
   *
   * @param scope `file` locks the whole file, and succeeds only if nobody else has it open.
   * `writes` locks through the index, so that only processes that share it are blocked.
   * @returns false if others are in the way.
   */
  lockOthersOut(scope: "file" | "writes"): boolean {
    const mode = scope === "file" ? "EXCLUSIVE" : "NORMAL";
    try {
      this.#db.exec(`PRAGMA locking_mode = ${mode}; BEGIN IMMEDIATE`);
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#db.close();
  }
}

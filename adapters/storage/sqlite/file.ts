/**
 * An open SQLite file, for callers that wait: while other processes lock it, and until its writes
 * have ended. Once `close` is called (`#closing`), it refuses everything, finishes the writes under
 * way, and closes its connection. The states of that are in connection.ts.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";
import { closedError, storageError } from "../pet_database.ts";
import { Connection } from "./connection.ts";
import { isBusy, storageFault } from "./fault.ts";
import { CHECK_INTERVAL } from "./watched_files.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;

/** An open file. */
export class SqliteFile {
  readonly #connection: Connection;
  /** How long to wait for other processes that lock the file, in ms. */
  readonly #lockTimeout: number;
  readonly #checks: ReturnType<typeof setInterval>;
  /** Resolves once all writes have ended. */
  #writes: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /**
   * Takes over `db`, which `close` closes.
   *
   * @param path of the file itself, not of a link to it: SQLite keeps its other files beside it.
   */
  constructor(path: string, db: DatabaseSync, lockTimeout: number) {
    this.#connection = new Connection(path, db, () => this.close());
    this.#lockTimeout = lockTimeout;
    const check = () => this.#connection.checkFiles();
    this.#checks = setInterval(check, CHECK_INTERVAL).unref();
  }

  /** Prepares a statement that returns rows as arrays and integers as `bigint`. */
  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
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
    this.#assertOpen(action); // Once is enough: `close` waits for writes.
    const done = this.#attempt(
      action,
      () => this.#connection.transact(action, work),
    );
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
      this.#connection.assertWritable(action);
    });
  }

  /** Finishes the writes under way and closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#writes.then(() => {
      clearInterval(this.#checks);
      this.#connection.close();
    });
  }

  #attempt<T>(action: string, attempt: () => T): Promise<T> {
    const explain = (error: unknown) => storageFault(action, error);
    return retryWhileLocked(this.#lockTimeout, attempt, explain);
  }

  #assertOpen(action: string): void {
    if (this.#closing === undefined) return;
    this.#connection.assertNoProblem(action); // That may be why the file was closed.
    throw closedError(action);
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

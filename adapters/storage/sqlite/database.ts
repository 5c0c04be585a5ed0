/**
 * An open SQLite database: when a read or a write may run, and what it means if it fails.
 *
 * A read runs as it arrives. (Gets and lists come here from `reads.ts`, where they may have waited
 * for the end of a turn of the event loop.) If another process locks the file, it runs again, after
 * all reads and writes that met a lock before. A write is a read with a transaction around it.
 *
 * Three things are asked before each attempt:
 *
 * - *The files* (`file`): `SqliteFile` looks at them, and says whether the database may be read and
 *   written. A write is acknowledged only if it is still kept after its commit.
 * - *Damage* (`#damage`): once the database is found damaged, the disk has failed under a write, or
 *   a write could not be rolled back, nothing is written until a restart. Reads go on.
 * - *Closing* (`#closing`): `close` refuses everything new, waits for what met a lock, and closes
 *   the file.
 */

import { setTimeout as delay } from "node:timers/promises";
import { StorageError } from "../../../core/storage.ts";
import { closedError, storageError } from "../pet_database.ts";
import {
  isBusy,
  isDamaged,
  isFatal,
  isRefused,
  mayHaveCommitted,
  storageFault,
  whyStopped,
} from "./fault.ts";
import type { SqliteFile } from "./file.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;

/** A read, and the name of its action for messages: "get pet". */
export interface Query {
  readonly action: string;
  readonly query: () => unknown;
}

/** Reads and writes an open file. */
export class SqliteDatabase {
  /** Prepares the statements. */
  readonly file: SqliteFile;
  /** How long to wait for other processes that lock the file, in ms. */
  readonly #lockTimeout: number;
  /** The error after which nothing more may be written; `undefined` if there was none. */
  #damage: unknown;
  /** Resolves once all reads and writes have ended that met a lock. All others end at once. */
  #locked: Promise<unknown> = Promise.resolve();
  /** What `close` returned; `undefined` if it was not called. */
  #closing: Promise<void> | undefined;

  /** Takes over `file`, which `close` closes. */
  constructor(file: SqliteFile, lockTimeout: number) {
    this.file = file;
    this.#lockTimeout = lockTimeout;
  }

  /**
   * Reads at once. If another process locks the file, reads again, after all reads and writes that
   * met a lock before: however many they are, they cost no more than one.
   *
   * @throws {StorageError} `unavailable`; its message names the action: "get pet". Errors that are
   * not SQLite's are thrown unchanged.
   */
  async read<T>(action: string, query: () => T): Promise<T> {
    // What happened to the files says more: each attempt refuses because of that.
    if (this.#closing !== undefined && this.file.isReadable) {
      throw closedError(action);
    }
    const attempt = () => {
      if (!this.file.isReadable) throw this.file.refusal(action);
      return query();
    };
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw this.#explain(action, error);
    }
    const deadline = performance.now() + this.#lockTimeout;
    const repeated = Promise.all([this.#locked, pause()]).then(() =>
      retryWhileLocked(
        deadline - performance.now(),
        attempt,
        (error) => this.#explain(action, error),
      )
    );
    // Without the results, which would be kept for ever.
    this.#locked = repeated.then(() => {}, () => {});
    return await repeated;
  }

  /**
   * Reads with several queries in one transaction. An error is the result of its own query.
   *
   * @throws {StorageError} `unavailable`, as `read` does.
   */
  async readEach(
    action: string,
    queries: readonly Query[],
  ): Promise<readonly unknown[]> {
    const readOne = ({ query }: Query) => {
      try {
        return query();
      } catch (error) {
        if (isBusy(error)) throw error;
        return error;
      }
    };
    const results = await this.read(action, () => {
      // A single read needs no transaction, which would take up to a tenth of a request; several
      // would each lock the file without one. One that could not be rolled back may be open.
      if (queries.length === 1 || this.file.isTransaction) {
        return queries.map(readOne);
      }
      this.file.prepare("BEGIN").run();
      try {
        return queries.map(readOne);
      } finally {
        this.#rollBack();
      }
    });
    // Only now: in a transaction the pages in the log cannot be counted.
    return queries.map(({ action }, i) =>
      results[i] instanceof Error
        ? this.#explain(action, results[i])
        : results[i]
    );
  }

  /**
   * Runs `work` in a transaction, in one turn of the event loop. Runs it again as `read` does, if
   * the file was locked. Once this resolves, the changes are in the log on disk.
   *
   * @throws {StorageError} `unavailable` if nothing happened, `outcome_unknown` if something may
   * have.
   */
  write<T>(action: string, work: () => T): Promise<T> {
    return this.read(action, () => this.#transact(action, work));
  }

  /** Looks at the files and for the table of pets, and checks that it could be written. */
  ping(): Promise<void> {
    const action = "reach the storage";
    const probe = "SELECT name FROM sqlite_schema WHERE name = 'pets'";
    return this.read(action, () => {
      this.file.look();
      this.#assertWritable(action);
      if (this.file.prepare(probe).get() !== undefined) return;
      throw storageError("unavailable", action, "the table pets is missing");
    });
  }

  /** Refuses everything new, waits for what is repeated because of a lock, and closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#locked.then(() => this.file.close());
  }

  #transact<T>(action: string, work: () => T): T {
    this.#assertWritable(action);
    // If this fails, nothing was written. Only damage is a reason to stop writing then.
    this.file.prepare("BEGIN IMMEDIATE").run();
    let isCommitting = false;
    let result: T;
    try {
      result = work();
      isCommitting = true;
      this.file.prepare("COMMIT").run();
    } catch (error) {
      this.#rollBack();
      if (isFatal(error)) this.#damage ??= error;
      if (!isCommitting || !mayHaveCommitted(error)) throw error;
      throw storageFault(action, error, "outcome_unknown");
    }
    if (this.file.isKept()) return result;
    throw this.file.refusal(action, "outcome_unknown");
  }

  /** Ends the transaction, if there is one. */
  #rollBack(): void {
    // SQLite may have rolled back by itself, for example when the disk is full (its document
    // Transaction, "Response To Errors Within A Transaction").
    if (!this.file.isTransaction) return;
    try {
      this.file.prepare("ROLLBACK").run();
    } catch (error) {
      this.#damage ??= error;
    }
  }

  /** Explains why an attempt failed. What happened to the files may be the reason. */
  #explain(action: string, error: unknown): unknown {
    if (error instanceof StorageError) return error; // it explains itself
    if (isFatal(error) || isRefused(error)) this.file.look();
    if (isDamaged(error)) this.#damage ??= error;
    return this.file.isReadable
      ? storageFault(action, error)
      : this.file.refusal(action);
  }

  /** @throws {StorageError} `unavailable` if nothing may be written. */
  #assertWritable(action: string): void {
    if (!this.file.isWritable) throw this.file.refusal(action);
    if (this.#damage === undefined) return;
    const reason = whyStopped(this.#damage);
    throw storageError("unavailable", action, reason, this.#damage);
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
    await pause();
  }
}

/** Waits for a random time, so that processes that were refused together do not meet again. */
function pause(): Promise<unknown> {
  return delay(Math.random() * MAX_PAUSE);
}

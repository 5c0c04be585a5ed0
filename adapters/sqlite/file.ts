/**
 * One connection to an SQLite file, which shares it fairly with other processes and stops writing if
 * the disk cannot be trusted.
 *
 * @module
 */

import { realpathSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { type FileInPlace, fileInPlace } from "./file_in_place.ts";
import { isBusy, isFatal, mayHaveCommitted, storageFault } from "./fault.ts";
import { patiently } from "./patience.ts";

/** How long writes trust that the file is in place, in ms: looking costs 10 % of a lone create. */
const IN_PLACE_MAX_AGE = 100;

/** Options of {@linkcode SqliteFile}. */
export interface SqliteFileOptions {
  readonly path: string;
  /** A connection to it; the `SqliteFile` closes it. */
  readonly db: DatabaseSync;
  /** How long to go on trying while other processes keep the file locked, in ms. */
  readonly lockTimeout: number;
}

// Deno 2.9 has the method, but no type for it.
interface ReturnsArrays {
  setReturnArrays?(enabled: boolean): void;
}

/** An open file. */
export class SqliteFile {
  readonly #db: DatabaseSync;
  readonly #lockTimeout: number;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #probe: StatementSync;
  readonly #main: FileInPlace;
  readonly #log: FileInPlace;
  readonly #writes = new Set<Promise<unknown>>();
  #damage: unknown;
  #closing: Promise<void> | undefined;

  /** @throws {Error} if the file cannot be looked at; the connection stays the caller's. */
  constructor(options: SqliteFileOptions) {
    this.#db = options.db;
    this.#lockTimeout = options.lockTimeout;
    this.#begin = this.prepare("BEGIN IMMEDIATE");
    this.#commit = this.prepare("COMMIT");
    this.#rollback = this.prepare("ROLLBACK");
    this.#probe = this.prepare("SELECT count(*) FROM sqlite_schema");
    // SQLite keeps its log beside the file that a symbolic link leads to.
    const path = realpathSync(options.path);
    this.#main = fileInPlace(path);
    this.#log = fileInPlace(`${path}-wal`);
  }

  /** Prepares a statement, to be kept. It returns rows as arrays and integers as `bigint`. */
  prepare(sql: string): StatementSync {
    const statement: StatementSync & ReturnsArrays = this.#db.prepare(sql);
    // For COMMIT too: Node 26 throws after it if the last id does not fit a number.
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    return statement;
  }

  /**
   * Runs a query.
   *
   * @param action for messages: "get pet".
   * @throws {StorageError} `unavailable`.
   */
  async read<T>(action: string, query: () => T): Promise<T> {
    try {
      this.#assertOpen(action);
      return query();
    } catch (error) {
      return await this.#readAgain(action, query, error);
    }
  }

  /**
   * Runs `work` in a transaction, in one turn of the event loop; if the file is locked, again later.
   * Once the promise is fulfilled, the result is on disk.
   *
   * @throws {StorageError} `unavailable` if nothing happened, `outcome_unknown` if that is uncertain.
   */
  async write<T>(action: string, work: () => T): Promise<T> {
    this.#assertOpen(action);
    const transact = (): T => this.#transact(action, work);
    const done = patiently(this.#lockTimeout, transact);
    this.#writes.add(done);
    try {
      return await done;
    } catch (error) {
      throw storageFault(action, error);
    } finally {
      this.#writes.delete(done);
    }
  }

  /** Asks the database, and checks that its files are still those that were opened. */
  async ping(): Promise<void> {
    const action = "reach the storage";
    await this.read(action, () => this.#probe.get());
    this.#assertUndamaged(action);
    this.#main.assertInPlace(action, 0);
    this.#log.assertInPlace(action, 0);
  }

  /** Finishes the writes under way and closes the file. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#writes).then(() =>
      this.#db.close()
    );
    return this.#closing;
  }

  async #readAgain<T>(
    action: string,
    query: () => T,
    error: unknown,
  ): Promise<T> {
    if (!isBusy(error)) throw storageFault(action, error);
    try {
      return await patiently(this.#lockTimeout, () => {
        this.#assertOpen(action);
        return query();
      });
    } catch (lastError) {
      throw storageFault(action, lastError);
    }
  }

  #transact<T>(action: string, work: () => T): T {
    this.#assertUndamaged(action);
    this.#begin.run();
    let isCommitting = false;
    try {
      const result = work();
      this.#main.assertInPlace(action, IN_PLACE_MAX_AGE);
      isCommitting = true;
      this.#commit.run();
      return result;
    } catch (error) {
      const isUnknown = isCommitting && mayHaveCommitted(error);
      if (isUnknown || isFatal(error)) this.#damage ??= error;
      this.#rollBack();
      if (isUnknown) throw storageFault(action, error, "outcome_unknown");
      throw error;
    }
  }

  #rollBack(): void {
    // If the disk is full, for example, SQLite has rolled back by itself.
    if (!this.#db.isTransaction) return;
    try {
      this.#rollback.run();
    } catch (error) {
      this.#damage ??= error;
    }
  }

  #assertOpen(action: string): void {
    if (this.#closing === undefined) return;
    throw new StorageError(
      "unavailable",
      `Cannot ${action}: the storage is closed`,
    );
  }

  /** After a disk error nobody knows what is on the disk: nothing more is written. */
  #assertUndamaged(action: string): void {
    if (this.#damage === undefined) return;
    throw new StorageError(
      "unavailable",
      `Cannot ${action}: writing stopped after a disk error; check the disk, then restart`,
      { cause: this.#damage },
    );
  }
}

/** A connection to an SQLite file: waits for other processes, writes no more after a disk error. */

import { realpathSync, statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { isBusy, isFatal, mayHaveCommitted, storageFault } from "./fault.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;
/** How long writes trust that the file is in place, in ms: checking costs 10 % of a lone create. */
const IN_PLACE_MAX_AGE = 100;

/** An open file. */
export class SqliteFile {
  readonly #db: DatabaseSync;
  readonly #lockTimeout: number;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #probe: StatementSync;
  readonly #assertMainInPlace: AssertInPlace;
  readonly #assertLogInPlace: AssertInPlace;
  readonly #writes = new Set<Promise<unknown>>();
  #damage: unknown;
  #closing: Promise<void> | undefined;

  /**
   * If this throws, the caller closes `db`; otherwise `close` does.
   *
   * @param lockTimeout how long to wait for other processes that lock the file, in ms.
   */
  constructor(path: string, db: DatabaseSync, lockTimeout: number) {
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    this.#begin = this.prepare("BEGIN IMMEDIATE");
    this.#commit = this.prepare("COMMIT");
    this.#rollback = this.prepare("ROLLBACK");
    this.#probe = this.prepare("SELECT count(*) FROM sqlite_schema");
    // SQLite keeps its log beside the file that a symbolic link leads to.
    const realPath = realpathSync(path);
    this.#assertMainInPlace = fileInPlace(realPath);
    this.#assertLogInPlace = fileInPlace(`${realPath}-wal`);
  }

  /** Prepares a statement that returns rows as arrays and integers as `bigint`. */
  prepare(sql: string): StatementSync {
    // Deno 2.9 has the method, but no type for it.
    const statement: StatementSync & { setReturnArrays?(is: boolean): void } =
      this.#db.prepare(sql);
    // For COMMIT too: Node 26 throws after it if the last id does not fit a number.
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    return statement;
  }

  /**
   * @param action for messages: "get pet".
   * @throws {StorageError} `unavailable`.
   */
  async read<T>(action: string, query: () => T): Promise<T> {
    try {
      return await patiently(this.#lockTimeout, () => {
        this.#assertOpen(action);
        return query();
      });
    } catch (error) {
      throw storageFault(action, error);
    }
  }

  /**
   * Runs `work` in a transaction, in one turn of the event loop; again if the file was locked. Once
   * fulfilled, its changes are on disk.
   *
   * @throws {StorageError} `unavailable` if nothing happened, `outcome_unknown` if it may have.
   */
  async write<T>(action: string, work: () => T): Promise<T> {
    this.#assertOpen(action);
    const transact = () => this.#transact(action, work);
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

  /** Queries the database, and checks that its files are still those that were opened. */
  async ping(): Promise<void> {
    const action = "reach the storage";
    await this.read(action, () => this.#probe.get());
    this.#assertUndamaged(action);
    this.#assertMainInPlace(action, 0);
    this.#assertLogInPlace(action, 0);
  }

  /** Finishes the writes under way and closes the file. */
  close(): Promise<void> {
    const close = () => this.#db.close();
    return this.#closing ??= Promise.allSettled(this.#writes).then(close);
  }

  #transact<T>(action: string, work: () => T): T {
    this.#assertUndamaged(action);
    this.#begin.run();
    let isCommitting = false;
    try {
      const result = work();
      this.#assertMainInPlace(action, IN_PLACE_MAX_AGE);
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
    // SQLite may have rolled back by itself, as when the disk is full.
    if (!this.#db.isTransaction) return;
    try {
      this.#rollback.run();
    } catch (error) {
      this.#damage ??= error;
    }
  }

  #assertOpen(action: string): void {
    if (this.#closing === undefined) return;
    throw unavailable(action, "the storage is closed");
  }

  #assertUndamaged(action: string): void {
    if (this.#damage === undefined) return;
    const reason =
      "writing stopped after a disk error; check the disk, then restart";
    throw unavailable(action, reason, this.#damage);
  }
}

function unavailable(
  action: string,
  reason: string,
  cause?: unknown,
): StorageError {
  const message = `Cannot ${action}: ${reason}`;
  return new StorageError("unavailable", message, { cause });
}

/**
 * Repeats an attempt while other processes lock the file, for at most `lockTimeout` ms. SQLite's own
 * `busy_timeout` would block the event loop meanwhile (1.8 s were seen).
 */
export async function patiently<T>(
  lockTimeout: number,
  attempt: () => T,
): Promise<T> {
  const deadline = performance.now() + lockTimeout;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await delay(Math.random() * MAX_PAUSE);
  }
}

/**
 * Checks that the same file is still at its path.
 *
 * @param action what fails otherwise: "create pet".
 * @param maxAge how old an earlier answer may be, in ms.
 * @throws {StorageError} `unavailable` if it is not.
 */
type AssertInPlace = (action: string, maxAge: number) => void;

/** Remembers which file is at a path now. Throws if that cannot be found out. */
function fileInPlace(path: string): AssertInPlace {
  const identity = identify(path);
  let checkedAt = -Infinity;
  return (action, maxAge) => {
    const now = performance.now();
    if (now - checkedAt < maxAge) return;
    let found: unknown;
    try {
      found = identify(path);
    } catch (error) {
      found = error; // not in place either
    }
    if (found !== identity) {
      const reason =
        "was deleted or replaced while in use; restart to use what is there now";
      throw unavailable(action, `${path} ${reason}`);
    }
    checkedAt = now;
  };
}

function identify(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/**
 * An open SQLite file. It owns the connection to the database, which nothing else touches. Its
 * methods wait while other processes lock the file, and `close` waits for its reads and writes.
 *
 * Three things decide what it does:
 *
 * - *The files* (`#state`, see `files.ts`): it looks at them every 100 ms, and before it
 *   acknowledges a write it makes sure that they exist.
 * - *Damage* (`#damage`): the database is damaged, the disk failed under a write, or a write could
 *   not be rolled back. Reads go on, but nothing is written until a restart.
 * - *Closing* (`#closing`): it refuses everything new, finishes what is under way, and then closes
 *   the connection. If it may no longer read, it closes by itself.
 */

import { openSync, renameSync, statSync, writeSync } from "node:fs";
import process from "node:process";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";
import { closedError, storageError } from "../pet_database.ts";
import {
  isBusy,
  isDamaged,
  isFatal,
  mayHaveCommitted,
  storageFault,
  whyStopped,
} from "./fault.ts";
import {
  allExist,
  describe,
  type Files,
  type Found,
  inspect,
  LOOK_INTERVAL,
  mayRead,
  nextState,
  readFiles,
  type State,
} from "./files.ts";

/** The longest pause before another attempt, in ms. */
const MAX_PAUSE = 8;
/** How long `close` waits until a log that is gone is in the main file, in ms. */
const END_TIME = 5000;
/** How long after a log was found emptied all processes know it, in ms. */
const NOTICE_TIME = 2 * LOOK_INTERVAL;
/** Sizes in bytes (SQLite's document WAL-mode File Format). */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;
const INDEX_HEADER = 136;
/** An index has a block for each 4096 pages in its log, and one more for a start that is not full. */
const INDEX_BLOCK = 2 ** 15;
const PAGES_OF_BLOCK = 4096;
/** Of a page in SQLite. */
const MIN_PAGE = 512;

/** A read, and the name of its action for messages: "get pet". */
export interface Query {
  readonly action: string;
  readonly query: () => unknown;
}

/** An open file. */
export class SqliteFile {
  readonly #ending = Promise.withResolvers<string>();
  /** Resolves to the reason if it closes itself because only a new process can go on. */
  readonly ended: Promise<string> = this.#ending.promise;
  readonly #path: string;
  readonly #db: DatabaseSync;
  /** How long to wait for other processes that lock the file, in ms. */
  readonly #lockTimeout: number;
  #looks: ReturnType<typeof setInterval>;
  /** By their SQL. */
  readonly #statements = new Map<string, StatementSync>();
  readonly #opened: Files;
  /** The size of a page in the log, in bytes; 0 if SQLite cannot count them (before 3.51). */
  readonly #frameSize: number;
  #state: State = { kind: "in place" };
  /** The error after which nothing more may be written; `undefined` if there was none. */
  #damage: unknown;
  /** Resolves once all writes have ended. */
  #writes: Promise<unknown> = Promise.resolve();
  /** Resolves once all reads have ended that met a lock. */
  #lockedReads: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  /** The descriptor through which the index is cleared. */
  #index: number | undefined;

  /**
   * Takes over `db`, which `close` closes.
   *
   * @param path of the file itself, not of a link to it: SQLite keeps its other files beside it.
   */
  constructor(path: string, db: DatabaseSync, lockTimeout: number) {
    this.#path = path;
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    const about: unknown = this.prepare(
      "SELECT page_size, sqlite_version() >= '3.51' FROM pragma_page_size",
    ).get();
    const [pageSize, canCount] = about as readonly [bigint, bigint];
    this.#frameSize = canCount ? FRAME_HEADER + Number(pageSize) : 0;
    this.#opened = readFiles(path);
    this.#look(); // other processes may have a log that was emptied
    this.#looks = setInterval(() => this.#lookAgain(), LOOK_INTERVAL).unref();
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
   * Reads at once. If another process locks the file, reads again, in order of arrival.
   *
   * @throws {StorageError} `unavailable`; its message names the action: "get pet". Errors that are
   * not SQLite's are thrown unchanged.
   */
  async read<T>(action: string, query: () => T): Promise<T> {
    this.#assertOpen(action);
    try {
      return this.#query(action, query);
    } catch (error) {
      if (!isBusy(error)) throw this.#explainRead(action, error);
    }
    const deadline = performance.now() + this.#lockTimeout;
    const read = Promise.all([this.#lockedReads, pause()]).then(() =>
      retryWhileLocked(
        deadline - performance.now(),
        () => this.#query(action, query),
        (error) => this.#explainRead(action, error),
      )
    );
    this.#lockedReads = Promise.allSettled([read]).then(() => {});
    return await read;
  }

  /**
   * Reads with several queries in one transaction. An error is the result of its own query.
   *
   * @throws {StorageError} `unavailable`, as `read` does.
   */
  readEach(
    action: string,
    queries: readonly Query[],
  ): Promise<readonly unknown[]> {
    const readOne = ({ action, query }: Query) => {
      try {
        return query();
      } catch (error) {
        if (isBusy(error)) throw error;
        return this.#explainRead(action, error);
      }
    };
    return this.read(action, () => {
      // A single read needs no transaction, which would take up to a tenth of a request; several
      // would each lock the file without one. One that could not be rolled back may be open.
      if (queries.length === 1 || this.#db.isTransaction) {
        return queries.map(readOne);
      }
      this.prepare("BEGIN").run();
      try {
        return queries.map(readOne);
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
    const done = retryWhileLocked(
      this.#lockTimeout,
      () => this.#transact(action, work),
      (error) => storageFault(action, error),
    );
    // Without the results, which would be kept for ever.
    this.#writes = Promise.allSettled([this.#writes, done]).then(() => {});
    return await done;
  }

  /** Looks for the table of pets, and checks that it could be written. */
  ping(): Promise<void> {
    const action = "reach the storage";
    const probe = "SELECT name FROM sqlite_schema WHERE name = 'pets'";
    if (this.#closing === undefined) this.#look();
    return this.read(action, () => {
      if (this.prepare(probe).get() === undefined) {
        throw storageError("unavailable", action, "the table pets is missing");
      }
      this.#assertWritable(action);
    });
  }

  /** Finishes the reads and writes under way and closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#finish();
  }

  #query<T>(action: string, query: () => T): T {
    if (!mayRead(this.#state)) throw this.#refusal(action);
    return query();
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
      this.#rollBack();
      if (isFatal(error)) {
        this.#damage ??= error;
        this.#look();
      }
      if (!isCommitting || !mayHaveCommitted(error)) throw error;
      throw storageFault(action, error, "outcome_unknown");
    }
    if (allExist(this.#path)) return result;
    this.#look();
    const { kind } = this.#state;
    if (kind === "in place") return result;
    // What is in the main file can no longer be lost with the log.
    if (kind === "log gone" && this.#saveLog()) return result;
    throw this.#refusal(action, "outcome_unknown");
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

  /** Explains why a read failed. What happened to the files may be the reason. */
  #explainRead(action: string, error: unknown): unknown {
    if (isFatal(error)) this.#look();
    if (isDamaged(error)) this.#damage ??= error;
    return mayRead(this.#state)
      ? storageFault(action, error)
      : this.#refusal(action);
  }

  /** @throws {StorageError} `unavailable` if nothing may be written. */
  #assertWritable(action: string): void {
    if (this.#state.kind !== "in place") throw this.#refusal(action);
    if (this.#damage === undefined) return;
    const reason = whyStopped(this.#damage);
    throw storageError("unavailable", action, reason, this.#damage);
  }

  /** @throws {StorageError} `unavailable` if the file is closed; says why, if it closed itself. */
  #assertOpen(action: string): void {
    if (this.#closing === undefined) return;
    throw mayRead(this.#state) ? closedError(action) : this.#refusal(action);
  }

  /** Refuses an action because of what happened to the files. */
  #refusal(
    action: string,
    kind: "unavailable" | "outcome_unknown" = "unavailable",
  ): Error {
    return storageError(kind, action, describe(this.#path, this.#state));
  }

  /** Looks at the files. */
  #look(): void {
    let found = this.#inspect();
    // Once more: another process may have emptied the log through SQLite, as it may, between the
    // two looks that are compared.
    if (found.log === "emptied") found = this.#inspect();
    this.#state = nextState(this.#state, found, performance.now());
  }

  #inspect(): Found {
    const found = inspect(this.#opened, readFiles(this.#path), 0);
    // A process that touches what is missing of the index is ended by the system (SIGBUS).
    if (found.index === "emptied" || this.#frameSize === 0) return found;
    const { pages } = this.#checkpoint("NOOP");
    const logSize = pages > 0 ? LOG_HEADER + pages * this.#frameSize : 0;
    return inspect(this.#opened, readFiles(this.#path), logSize);
  }

  /** Looks at the files, and closes the database if nothing else can be done. */
  #lookAgain(): void {
    this.#look();
    if (mayRead(this.#state)) return;
    // If the process ended now, its runtime would close the database as if all were well.
    this.#looks.ref();
    if (!this.#tryToClose()) return;
    this.#closing ??= Promise.resolve();
    if (this.#state.kind !== "log gone") return;
    this.#ending.resolve(describe(this.#path, this.#state));
  }

  async #finish(): Promise<void> {
    clearInterval(this.#looks);
    await Promise.all([this.#writes, this.#lockedReads]);
    const deadline = performance.now() + END_TIME;
    this.#look();
    while (!this.#tryToClose()) {
      if (performance.now() > deadline) return this.#giveUp();
      await delay(LOOK_INTERVAL);
      this.#look();
    }
  }

  /** Closes the database, after what must be done before; false if that is not done yet. */
  #tryToClose(): boolean {
    const state = this.#state;
    const { kind } = state;
    if (kind === "log replaced" || kind === "main emptied") {
      return this.#closeUntouched();
    }
    if (kind === "log emptied") {
      if (performance.now() - state.since < NOTICE_TIME) return false;
      if (!this.#clearIndex()) return this.#closeUntouched();
    } else if (kind === "log gone" && !this.#saveLog()) return false;
    this.#putLogAway();
    this.#closeConnection();
    return true;
  }

  /**
   * Closes the database so that SQLite neither moves nor deletes a log. It would for the last
   * connection to the file, so another one is closed after ours, that only reads: SQLite moves
   * nothing for such a one. Returns false if that fails.
   */
  #closeUntouched(): boolean {
    // The other one would use the same index, and be ended by the system (SIGBUS).
    if (this.#inspect().index === "emptied") return false;
    if (this.#state.kind === "main emptied") this.#renameLog();
    let last: DatabaseSync | undefined;
    try {
      const { DatabaseSync } = loadSqlite();
      last = new DatabaseSync(this.#path, { readOnly: true });
      last.prepare("BEGIN").run();
      last.prepare("SELECT count(*) FROM sqlite_schema").get();
    } catch (error) {
      // It has the file open even if it finds pages that are damaged, or not in the log.
      if (last === undefined || !isFatal(error)) {
        last?.close();
        return false;
      }
    }
    this.#closeConnection();
    last.close();
    return true;
  }

  #closeConnection(): void {
    clearInterval(this.#looks);
    this.#db.close();
  }

  #giveUp(): void {
    if (this.#state.kind !== "log gone") { // Closing it would destroy it.
      this.#looks = setInterval(() => this.#lookAgain(), LOOK_INTERVAL);
      return console.warn(
        `${this.#path} stays open, because closing it would destroy it: kill this process`,
      );
    }
    this.#closeConnection();
    console.warn(
      `${this.#path}: others still read what the deleted log holds; end them before anything else uses the database, but kill none`,
    );
  }

  /**
   * Runs a checkpoint, through the descriptors: wherever the files are now. Counts the pages in the
   * log, and those that are in the main file too; -1 if that fails, or if there is no log.
   */
  #checkpoint(mode: "NOOP" | "PASSIVE" | "TRUNCATE") {
    try {
      const row: unknown = this.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
      const [, pages, moved] = row as readonly [bigint, bigint, bigint];
      return { pages: Number(pages), moved: Number(moved) };
    } catch {
      return { pages: -1, moved: -1 };
    }
  }

  /** Moves the log into the main file. False if it fails, or if others still read an old state. */
  #saveLog(): boolean {
    const { pages, moved } = this.#checkpoint("PASSIVE");
    return pages === moved && pages >= 0;
  }

  /**
   * Saves the log at the end if the main file is not in its place: SQLite would leave the log there,
   * and apply it to a backup that is put in its place. Leaves it alone once it has changed, because
   * then a process with the new file writes to it.
   */
  #putLogAway(): void {
    const state = this.#state;
    if (!("logVersion" in state)) return;
    const { log, index, logVersion } = this.#inspect();
    const isOurs = log === "in place"
      ? logVersion === state.logVersion
      : log === "gone" || index === "replaced";
    if (isOurs) this.#checkpoint("TRUNCATE");
    if (log !== "in place") return;
    const path = `${this.#path}-wal`;
    let what =
      `unless a server already uses a new file, move ${path} away before the next start, or it damages that file`;
    if (statSync(path, { throwIfNoEntry: false })?.size === 0) {
      what = "the old file, wherever it is, now has all pets";
    } else if (isOurs) {
      const aside = this.#renameLog();
      if (aside !== undefined) {
        what =
          `the newest pets are in ${aside}; to use them, put the old file back, and this file beside it as ${path}`;
      }
    }
    const fate = state.kind === "main gone" ? "deleted or moved" : "replaced";
    console.warn(`${this.#path} was ${fate} while in use: ${what}`);
  }

  /** Renames the log, and returns its new path; `undefined` if that fails. */
  #renameLog(): string | undefined {
    const path = `${this.#path}-wal`;
    const aside = `${path}.lost-${new Date().toISOString()}`;
    try {
      renameSync(path, aside);
      return aside;
    } catch {
      return undefined;
    }
  }

  /**
   * Clears the index of a log that was emptied. SQLite then reads the log again, finds nothing in
   * it, and so moves nothing when it closes the database. Returns false if that fails.
   */
  #clearIndex(): boolean {
    const found = this.#inspect();
    // Another process has done so, and a new one may use the log by now.
    if (found.log !== "emptied" && found.index !== "emptied") return true;
    if (found.index === "gone" || found.index === "replaced") return false;
    let size = INDEX_HEADER;
    if (found.index === "emptied") {
      // All of what SQLite touches when it reads the log again: what is written has space on the
      // disk, and where there is none, a touch ends the process (SIGBUS).
      const logSize = readFiles(this.#path).log?.size ?? 0;
      const pages = logSize / (FRAME_HEADER + MIN_PAGE);
      size = (2 + Math.floor(pages / PAGES_OF_BLOCK)) * INDEX_BLOCK;
    }
    try {
      // Never closed, because that would release the locks of this process on the file (SQLite's
      // document How To Corrupt, "Posix advisory locks canceled").
      this.#index ??= openSync(`${this.#path}-shm`, "r+");
      return writeSync(this.#index, new Uint8Array(size), 0, size, 0) === size;
    } catch {
      return false;
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
    await pause();
  }
}

function pause(): Promise<unknown> {
  return delay(Math.random() * MAX_PAUSE);
}

/**
 * Returns `node:sqlite`. It is not imported: on Node 20, which lacks it, no module that imports it
 * could say what to do.
 *
 * @throws {Error} if this runtime lacks it.
 */
export function loadSqlite(): typeof import("node:sqlite") {
  const sqlite = process.getBuiltinModule?.("node:sqlite");
  if (sqlite !== undefined) return sqlite;
  throw new Error(
    "this runtime has no node:sqlite; use Node 22.18, Deno 2.9, Bun 1.4 or later",
  );
}

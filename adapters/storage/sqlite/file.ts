/**
 * An open SQLite file. It owns the connection to the database, which nothing else closes. Every 100
 * ms it looks at the files, and what it finds is its state (`State` in `files.ts`), which says
 * whether the database may be read and written, and what must be done before it is closed.
 *
 * If nothing may be read any more, it closes the database by itself, as soon as that does no harm
 * (`#prepareToClose`). For example, if the log was deleted:
 *
 * 1. The next look, or the next commit, finds it gone. From then on everything is refused.
 * 2. Each look moves what it can of the log, which is still open, into the main file. As long as
 *    others read an old state, that cannot be all of it.
 * 3. Once it is all, the database is closed, and `ended` resolves: a restart is all that is needed.
 *
 * After other losses it closes the database in the same way, but `ended` does not resolve.
 *
 * `close` also waits until that does no harm, for at most 5 s. Then it says what to do (`#giveUp`).
 */

import { openSync, renameSync, writeSync } from "node:fs";
import process from "node:process";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { clearInterval, setInterval } from "node:timers";
import { storageError } from "../pet_database.ts";
import { isFatal, isRefused } from "./fault.ts";
import {
  allExist,
  describe,
  describeLog,
  type Files,
  type Found,
  inspect,
  isIndexEmptied,
  LOOK_INTERVAL,
  mayRead,
  nextState,
  NOTICE_TIME,
  readFiles,
  type State,
} from "./files.ts";

/** How long `close` waits until the database can be closed without harm, in ms. */
const CLOSING_TIME = 5000;
/** Sizes in the log, in bytes (SQLite's document WAL-mode File Format). */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;

/**
 * An index has a block of so many bytes for each 4096 pages in its log, and one more for a start
 * that is not full (SQLite's document WAL-mode File Format).
 */
const INDEX_BLOCK = 2 ** 15;
/** The least that 4096 pages take in the log, in bytes: 512 for each, and a header of 24. */
const LOG_OF_BLOCK = 4096 * (24 + 512);

/**
 * The start of an index of version 1, which SQLite refuses, because it knows only version 3007000:
 * the header of an index, with its checksum, and the same again (its document WAL-mode File
 * Format).
 */
const REFUSED_HEADER = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 42, 68];
const REFUSED_INDEX = Uint32Array.of(...REFUSED_HEADER, ...REFUSED_HEADER);

/** An open file. */
export class SqliteFile {
  readonly #ending = Promise.withResolvers<string>();
  /**
   * Resolves to the reason if it has closed itself, and a restart is all that is needed: the log is
   * gone, and all that it held is saved. After other losses somebody must act before a restart.
   */
  readonly ended: Promise<string> = this.#ending.promise;
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #looks: ReturnType<typeof setInterval>;
  /** By their SQL. */
  readonly #statements = new Map<string, StatementSync>();
  readonly #opened: Files;
  /** The size of a page in the log, in bytes; 0 if SQLite cannot count them (before 3.51). */
  readonly #frameSize: number;
  #state: State = {
    kind: "in place",
    suffix: "",
    since: 0,
    logVersion: "",
    isLogOurs: true,
  };
  /** Resolves once the database is closed, or `close` has given up. */
  readonly #closed = Promise.withResolvers<void>();
  /** Until when `close` waits, in ms; `Infinity` if it has given up, `undefined` if not called. */
  #deadline: number | undefined;
  /** The connection that is closed after `#db`; `undefined` unless it was needed. */
  #reader: DatabaseSync | undefined;
  /** The descriptor through which the index is cleared. */
  #index: number | undefined;

  /**
   * Takes over `db`, which `close` closes.
   *
   * @param path of the file itself, not of a link to it: SQLite keeps its other files beside it.
   */
  constructor(path: string, db: DatabaseSync) {
    this.#path = path;
    this.#db = db;
    const about: unknown = this.prepare(
      "SELECT page_size, CAST(substr(sqlite_version(), 3) AS INTEGER) >= 51 FROM pragma_page_size",
    ).get();
    const [pageSize, canCount] = about as readonly [bigint, bigint];
    this.#frameSize = canCount ? FRAME_HEADER + Number(pageSize) : 0;
    this.#opened = readFiles(path);
    this.look(); // other processes may have a log that was emptied
    this.#looks = setInterval(() => this.#lookAgain(), LOOK_INTERVAL).unref();
  }

  /** Tells whether a transaction is open. */
  get isTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Tells whether the last look allows reads. */
  get isReadable(): boolean {
    return mayRead(this.#state);
  }

  /** Tells whether the last look allows writes. */
  get isWritable(): boolean {
    return this.#state.kind === "in place";
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

  /** Refuses an action because of what happened to the files. */
  refusal(
    action: string,
    kind: "unavailable" | "outcome_unknown" = "unavailable",
  ): Error {
    return storageError(kind, action, describe(this.#path, this.#state));
  }

  /** Looks at the files. */
  look(): void {
    let found = this.#inspect();
    // Once more: another process may have emptied the log through SQLite, as it may, after its pages
    // were counted and before its size was read.
    if (found.log === "emptied") found = this.#inspect();
    this.#state = nextState(this.#state, found, performance.now());
  }

  /** Tells whether what was committed just now will be found after a restart. */
  isKept(): boolean {
    if (allExist(this.#path)) return true;
    this.look();
    const { kind } = this.#state;
    // What is in the main file can no longer be lost with the log.
    return kind === "in place" || kind === "log gone" && this.#saveLog();
  }

  /** Closes the database. If that would do harm, waits; after 5 s gives up, and says what to do. */
  close(): Promise<void> {
    this.#deadline = performance.now() + CLOSING_TIME;
    this.#lookAgain();
    return this.#closed.promise;
  }

  #inspect(): Found {
    // A process that touches what is missing of the index is ended by the system (SIGBUS).
    const canCount = this.#frameSize > 0 &&
      !isIndexEmptied(this.#opened, this.#path);
    const pages = canCount ? this.#checkpoint("NOOP").pages : 0;
    const logSize = pages > 0 ? LOG_HEADER + pages * this.#frameSize : 0;
    return inspect(this.#opened, readFiles(this.#path), logSize);
  }

  /** Looks at the files, and closes the database if it may not be read, or `close` was called. */
  #lookAgain(): void {
    if (!this.#db.isOpen) return;
    this.look();
    if (this.isReadable && this.#deadline === undefined) return;
    // If the process ended now, its runtime would close the database as if all were well.
    this.#looks.ref();
    if (this.#prepareToClose()) this.#closeNow();
    else if (performance.now() > (this.#deadline ?? Infinity)) this.#giveUp();
  }

  #closeNow(): void {
    clearInterval(this.#looks);
    this.#db.close();
    this.#reader?.close();
    this.#closed.resolve();
    if (this.#state.kind === "log gone" && this.#deadline === undefined) {
      this.#ending.resolve(describe(this.#path, this.#state));
    }
  }

  /** Lets `close` end. The looks go on, and close the database once that does no harm. */
  #giveUp(): void {
    this.#deadline = Infinity;
    const isLogGone = this.#state.kind === "log gone";
    console.warn(
      isLogGone || this.isReadable
        ? `${this.#path}: others still read what the deleted log holds; end them before anything else uses the database, but kill none`
        : `${this.#path} stays open, because closing it would destroy it: kill this process`,
    );
    // The last of the others saves the log, which it could not if the main file were gone too.
    if (isLogGone) this.#closeNow();
    this.#closed.resolve();
  }

  /** Does what must be done before the database is closed; false if that is not possible yet. */
  #prepareToClose(): boolean {
    const { kind, suffix, since } = this.#state;
    switch (kind) {
      case "in place":
        return true;
      case "main gone":
      case "main replaced":
        return this.#putLogAway();
      case "log gone":
        return this.#saveLog();
      case "log emptied":
        if (suffix === "-wal") {
          return this.#invalidateIndex() || this.#openReader();
        }
        if (performance.now() - since < NOTICE_TIME) return false;
        return this.#clearIndex() || this.#openReader();
      case "main emptied":
      case "log replaced":
        return this.#openReader();
    }
  }

  /**
   * Opens another connection, to be closed after ours, so that SQLite neither moves nor deletes a
   * log. It does both for the last connection to a file, but not if that one only reads. Returns
   * false if that fails.
   */
  #openReader(): boolean {
    // It would use the same index, and be ended by the system (SIGBUS).
    if (isIndexEmptied(this.#opened, this.#path)) return false;
    // Here it does not: it deletes any log beside an empty file.
    if (this.#state.kind === "main emptied") {
      const aside = renameLog(this.#path);
      if (aside !== undefined) {
        console.warn(
          `${this.#path} was emptied while in use: its log is ${aside}`,
        );
      }
    }
    const { DatabaseSync } = loadSqlite();
    try {
      this.#reader ??= new DatabaseSync(this.#path, { readOnly: true });
      // In an empty file, which is not in WAL mode, it has a lock only in a transaction.
      if (!this.#reader.isTransaction) this.#reader.prepare("BEGIN").run();
      this.#reader.prepare("SELECT count(*) FROM sqlite_schema").get();
      return true;
    } catch (error) {
      // It has the file open even if it finds pages that are damaged, or not in the log.
      return this.#reader !== undefined && isFatal(error);
    }
  }

  /**
   * Runs a checkpoint, through the descriptors: wherever the files are now. Counts the pages in the
   * log, and those that are in the main file too; -1 if that fails, or if there is no log. `pages`
   * is `Infinity` if another process has invalidated the index.
   */
  #checkpoint(mode: "NOOP" | "PASSIVE" | "TRUNCATE") {
    try {
      const row: unknown = this.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
      const [, pages, moved] = row as readonly [bigint, bigint, bigint];
      return { pages: Number(pages), moved: Number(moved) };
    } catch (error) {
      return { pages: isRefused(error) ? Infinity : -1, moved: -1 };
    }
  }

  /** Moves the log into the main file. False if it fails, or if others still read an old state. */
  #saveLog(): boolean {
    const { pages, moved } = this.#checkpoint("PASSIVE");
    return pages === moved && pages >= 0;
  }

  /**
   * Saves the log if the main file is not in its place: SQLite would leave the log there, and apply
   * it to a backup that is put in its place. False if the log is nowhere else, and others still read
   * an old state.
   */
  #putLogAway(): boolean {
    const state = this.#state;
    const { log } = this.#inspect();
    // If another log or none is at the path, nobody else can write to the one that is open.
    const isOurs = state.isLogOurs || log !== "in place";
    if (isOurs) this.#checkpoint("TRUNCATE");
    const isMoved = log === "in place"
      ? readFiles(this.#path).log?.size === 0
      : this.#saveLog();
    if (log !== "in place" && !isMoved) return false;
    const aside = isOurs && !isMoved ? renameLog(this.#path) : undefined;
    console.warn(describeLog(this.#path, state, isMoved, aside));
    return true;
  }

  /**
   * Makes SQLite refuse the index after the log was emptied. Then nobody who has it open reads or
   * writes, even a process that was suspended meanwhile, and whoever closes it moves nothing. Once
   * all have closed it, SQLite makes another. Returns false if that fails.
   */
  #invalidateIndex(): boolean {
    return this.#writeIndex(new Uint8Array(REFUSED_INDEX.buffer));
  }

  /**
   * Clears the index after it was emptied. SQLite then reads the log again, and when it closes the
   * database, it moves what it has found there. Returns false if that fails.
   */
  #clearIndex(): boolean {
    // Another process has done so, and a new one may use the log by now.
    const { log, index } = this.#inspect();
    if (log !== "emptied" && index !== "emptied") return true;
    // All of what SQLite touches when it reads the log again: what is written has space on the disk,
    // and where there is none, a touch ends the process (SIGBUS).
    const logSize = readFiles(this.#path).log?.size ?? 0;
    const size = (2 + Math.floor(logSize / LOG_OF_BLOCK)) * INDEX_BLOCK;
    return this.#writeIndex(new Uint8Array(size));
  }

  /** Writes to the start of the index. Returns false if that fails. */
  #writeIndex(bytes: Uint8Array): boolean {
    const { index } = this.#inspect();
    if (index === "gone" || index === "replaced") return false;
    try {
      // Never closed, because that would release the locks of this process on the file (SQLite's
      // document How To Corrupt, "Posix advisory locks canceled").
      this.#index ??= openSync(`${this.#path}-shm`, "r+");
      return writeSync(this.#index, bytes, 0, bytes.length, 0) === bytes.length;
    } catch {
      return false;
    }
  }
}

/** Renames the log, and returns its new path; `undefined` if that fails. */
function renameLog(path: string): string | undefined {
  const aside = `${path}-wal.lost-${new Date().toISOString()}`;
  try {
    renameSync(`${path}-wal`, aside);
    return aside;
  } catch {
    return undefined;
  }
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

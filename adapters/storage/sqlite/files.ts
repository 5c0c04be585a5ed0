/**
 * The three files of an open database: the main file, its log (`-wal`), and the index of the log
 * (`-shm`), through which processes lock the file.
 *
 * `readFiles` reads what is at their paths, `inspect` compares that with what was opened, and
 * `nextState` decides what it means. None of them touches the database: `file.ts` asks them every
 * 100 ms, and acts on the state:
 *
 * - *In place*: all is well.
 * - *Main gone*, *main replaced*: it reads, but writes nothing until the file is back. At the end it
 *   moves the log into the file that is open, wherever that is, or renames it. If another program
 *   writes to the log meanwhile, that is *log replaced*.
 * - *Log gone* (the log or the index): it neither reads nor writes. It moves what the log holds into
 *   the main file, and then closes the database. If it only closed it, nothing would be moved while
 *   others have it open.
 * - *Log replaced* (the log or the index): it neither reads nor writes. It closes the database, but
 *   moves nothing, because another program uses the database.
 * - *Log emptied* (the log or the index): it neither reads nor writes. If it only closed the
 *   database, SQLite would move what is not there. After the log was emptied, it writes an index
 *   that SQLite refuses, so that nobody moves anything, nor goes on without having noticed. After
 *   the index was emptied, it waits for 200 ms, when all processes know it, and clears the index, so
 *   that SQLite reads the log again.
 * - *Main emptied*: as after *log replaced*, but it renames the log before, which SQLite deletes
 *   beside an empty file.
 *
 * Only a main file that is gone or replaced can come back: the rest is for good. Each row of the
 * table in tests/adapters/storage/sqlite/files_test.ts is one case.
 */

import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

/** The pause between two looks, in ms. */
export const LOOK_INTERVAL = 100;
/** How long after a loss all processes know it, in ms. */
export const NOTICE_TIME = 2 * LOOK_INTERVAL;

const RESTORE =
  "stop all programs that use the database, move -wal and -shm away, and restore a backup";
const MAY_BE_LOST =
  "The newest pets and changes of API keys may be lost. So that no id is given twice, first run this with an N above all ids that clients know: DELETE FROM sqlite_sequence WHERE name = 'pets'; INSERT INTO sqlite_sequence VALUES ('pets', N)";

/** What is at a path. */
export interface FileFacts {
  /** Differs between any two files that exist at the same time. */
  readonly identity: string;
  /** In bytes. */
  readonly size: number;
  /** When it was last written to, in ns. */
  readonly changed: bigint;
}

/** What is at the three paths; `undefined` if it is missing or cannot be reached. */
export interface Files {
  readonly main: FileFacts | undefined;
  readonly log: FileFacts | undefined;
  readonly index: FileFacts | undefined;
  /** True if the log begins with zeros instead of its header, or with nothing. */
  readonly isLogBlank: boolean;
}

/** What happened to a file. */
type Fate = "in place" | "gone" | "replaced" | "emptied";

/** How the files differ from those that were opened. */
export interface Found {
  readonly main: Fate;
  readonly log: Fate;
  readonly index: Fate;
  /** A value that each write to the file at the log's path changes. */
  readonly logVersion: string;
}

/** What the looks so far have found. In a `kind`, *log* is the log or its index. */
export interface State {
  readonly kind: "in place" | `${"main" | "log"} ${Exclude<Fate, "in place">}`;
  /** The end of the path of the file that this happened to. */
  readonly suffix: "" | "-wal" | "-shm";
  /** When it was found, in ms; for the main file, when it was first missed. */
  readonly since: number;
  /** Of the log, when it was last seen. */
  readonly logVersion: string;
  /** False if somebody has written to the log since the main file was missed. */
  readonly isLogOurs: boolean;
}

/** Reads what is at the three paths now. */
export function readFiles(path: string): Files {
  return {
    main: factsOf(path),
    log: factsOf(`${path}-wal`),
    index: factsOf(`${path}-shm`),
    isLogBlank: isBlank(`${path}-wal`),
  };
}

/** Tells whether the index was emptied, as `inspect` does, but without a look at the log. */
export function isIndexEmptied(opened: Files, path: string): boolean {
  return findIndex(opened, factsOf(`${path}-shm`)) === "emptied";
}

/**
 * Tells whether all three files exist. Not with `readFiles`: after a stat of the log, the next
 * COMMIT takes half as long again on Linux 6.13 and later, because it then writes an exact time
 * (Linux's document Multigrain Timestamps).
 */
export function allExist(path: string): boolean {
  return ["", "-wal", "-shm"].every((suffix) => existsSync(path + suffix));
}

/**
 * Compares the files with those that were opened.
 *
 * @param logSize how long the log must be at least, in bytes, as its index says; 0 if nothing in it
 * is needed.
 */
export function inspect(opened: Files, now: Files, logSize: number): Found {
  const size = now.log?.size ?? 0;
  const isLogCut = logSize > 0 && (size < logSize || now.isLogBlank);
  return {
    // It may shrink otherwise: another program may have run VACUUM.
    main: find(opened.main, now.main, now.main?.size === 0),
    log: find(opened.log, now.log, isLogCut),
    index: findIndex(opened, now.index),
    logVersion: `${size}:${now.log?.changed}`,
  };
}

/** Decides what follows from a look; `now` is in ms. */
export function nextState(state: State, found: Found, now: number): State {
  const { main, log, index, logVersion } = found;
  const isLogGone = state.kind === "log gone";
  if (!mayRead(state) && !isLogGone) return state;
  const become = (
    kind: State["kind"],
    suffix: State["suffix"] = "",
  ): State => ({ kind, suffix, since: now, logVersion, isLogOurs: true });
  const which = (fate: Fate) =>
    log === fate ? "-wal" : index === fate ? "-shm" : undefined;
  const emptied = which("emptied");
  const replaced = which("replaced");
  const gone = which("gone");
  if (main === "emptied") return become("main emptied");
  if (emptied) return become("log emptied", emptied);
  // Who writes to the new one uses our index.
  if (log === "replaced" && index === "in place") {
    return become("log replaced", "-wal");
  }
  const isMissed = state.kind === "main gone" || state.kind === "main replaced";
  // Who opens another main file uses the log and the index that are at the path. An empty log is
  // one that another server has moved into the old file.
  const isWritten = isMissed && log === "in place" &&
    logVersion !== state.logVersion && !logVersion.startsWith("0:");
  // Until then, other servers may add pets, because they have not missed the main file.
  if (isWritten && now - state.since >= NOTICE_TIME) {
    return become("log replaced");
  }
  // Before the log: while the main file is gone the log stays as it is, for when it comes back.
  if (main !== "in place" && !isLogGone) {
    const kind = `main ${main}` as const;
    if (!isMissed) return become(kind);
    const isLogOurs = state.isLogOurs && !isWritten;
    return log === "in place"
      ? { ...state, kind, logVersion, isLogOurs }
      : { ...state, kind, isLogOurs };
  }
  // Others may have written to the new one: their pages would mix with ours.
  if (replaced) return become("log replaced", replaced);
  if (isLogGone) return state;
  return gone ? become("log gone", gone) : become("in place");
}

/** Tells whether the database may still be read. */
export function mayRead({ kind }: State): boolean {
  return kind === "in place" || kind === "main gone" ||
    kind === "main replaced";
}

/** Says what happened to the files at `path`, and what to do. */
export function describe(path: string, { kind, suffix }: State): string {
  const file = path + suffix;
  switch (kind) {
    case "in place":
      return "the files are in place";
    case "main gone":
      return `${path} was deleted, moved or made unreadable while in use; save the pets that lists still show, then put the same file back; before you restore a backup, move -wal and -shm away`;
    case "main replaced":
      return `${path} was replaced while in use, and pets that were added in the ${LOOK_INTERVAL} ms before are in the old file only; save the pets that lists still show, then restart`;
    case "main emptied":
      return `${path} was emptied while in use; ${RESTORE}`;
    case "log gone":
      return `${file} was deleted while in use; restart this process before anything else uses the database`;
    case "log replaced":
      if (suffix === "") {
        return `${path} was replaced while in use, and another program uses the new file with the old -wal, which damages it; ${RESTORE}`;
      }
      return `${file} was replaced while in use, so another program uses the database; end that program, then restart this process. ${MAY_BE_LOST}`;
    case "log emptied":
      return `${file} was emptied while in use; stop all programs that use the database, then start again${
        suffix === "-wal" ? `. ${MAY_BE_LOST}` : ""
      }`;
  }
}

/**
 * Says where the newest pets are if the main file was lost.
 *
 * @param isMoved true if they were moved from the log into the file that was open.
 * @param aside what the log was renamed to.
 */
export function describeLog(
  path: string,
  { kind }: State,
  isMoved: boolean,
  aside: string | undefined,
): string {
  const fate = kind === "main gone" ? "deleted or moved" : "replaced";
  let what = "the old file, wherever it is, now has all pets";
  if (!isMoved) {
    what = aside === undefined
      ? `unless a server already uses a new file, move ${path}-wal away before the next start, or it damages that file`
      : `the newest pets are in ${aside}; to use them, put the old file back, and this file beside it as ${path}-wal`;
  }
  return `${path} was ${fate} while in use: ${what}`;
}

/** An index that is shorter than when it was opened was cut: SQLite never shortens it. */
function findIndex(opened: Files, now: FileFacts | undefined): Fate {
  const size = now?.size ?? 0;
  return find(opened.index, now, size < (opened.index?.size ?? 0));
}

function find(
  opened: FileFacts | undefined,
  now: FileFacts | undefined,
  isEmptied: boolean,
): Fate {
  if (now?.identity !== opened?.identity) {
    return now === undefined ? "gone" : "replaced";
  }
  return isEmptied ? "emptied" : "in place";
}

function factsOf(path: string): FileFacts | undefined {
  try {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
    return {
      identity: `${dev}:${ino}`,
      size: Number(size),
      changed: mtimeNs,
    };
  } catch {
    return undefined;
  }
}

/** Only for a log: closing another file of SQLite would release the locks of this process on it. */
function isBlank(log: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(log, "r");
    const header = new Uint8Array(32);
    readSync(descriptor, header, 0, header.length, 0);
    return header.every((byte) => byte === 0);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

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
 *   moves the log into the file that is open, wherever that is, or renames it.
 * - *Log gone* (the log or the index): it neither reads nor writes. It moves what the log holds into
 *   the main file, and then closes the database. If it only closed it, nothing would be moved while
 *   others have it open.
 * - *Log replaced* (the log or the index): it neither reads nor writes. It closes the database, but
 *   moves nothing, because another program uses the database.
 * - *Log emptied* (the log or the index): it neither reads nor writes. After 200 ms it clears the
 *   index, and closes the database. If it only closed it, SQLite would move what is not there.
 * - *Main emptied*: as after *log replaced*, but it renames the log before, which SQLite deletes
 *   beside an empty file.
 *
 * Only a main file that is gone can come back: the rest is for good. Each row of the table in
 * tests/adapters/storage/sqlite/files_test.ts is one case.
 */

import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

/** The pause between two looks, in ms. */
export const LOOK_INTERVAL = 100;

const MAY_BE_LOST =
  "The newest pets and changes of API keys may be lost. So that no id is given twice, first run this with an N above all ids that clients know: DELETE FROM sqlite_sequence WHERE name = 'pets'; INSERT INTO sqlite_sequence VALUES ('pets', N)";

/** The end of the path of the log, and of its index. */
type Suffix = "-wal" | "-shm";

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

/** How the files differ from those that were opened. */
export interface Found {
  readonly main: "in place" | "gone" | "replaced" | "emptied";
  readonly log: "in place" | "gone" | "replaced" | "emptied";
  readonly index: "in place" | "gone" | "replaced" | "emptied";
  /** A value that each write to the file at the log's path changes. */
  readonly logVersion: string;
}

/** What the looks so far have found. */
export type State =
  | { readonly kind: "in place" }
  | {
    readonly kind: "main gone" | "main replaced";
    /** When the main file was first missed. */
    readonly logVersion: string;
  }
  | { readonly kind: "main emptied" }
  | { readonly kind: "log gone" | "log replaced"; readonly suffix: Suffix }
  | {
    readonly kind: "log emptied";
    readonly suffix: Suffix;
    /** When it was found, in ms. */
    readonly since: number;
  };

/** Reads what is at the three paths now. */
export function readFiles(path: string): Files {
  return {
    main: factsOf(path),
    log: factsOf(`${path}-wal`),
    index: factsOf(`${path}-shm`),
    isLogBlank: isBlank(`${path}-wal`),
  };
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
  const find = (name: "main" | "log" | "index") => {
    if (now[name]?.identity === opened[name]?.identity) return "in place";
    return now[name] === undefined ? "gone" : "replaced";
  };
  const emptiedIf = (isCut: boolean, place: ReturnType<typeof find>) =>
    isCut && place === "in place" ? "emptied" : place;
  const size = now.log?.size ?? 0;
  const isLogCut = logSize > 0 && (size < logSize || now.isLogBlank);
  // An index never shrinks while anybody has it open.
  const isIndexCut = (now.index?.size ?? 0) < (opened.index?.size ?? 0);
  return {
    // It may shrink otherwise: another program may have run VACUUM.
    main: emptiedIf(now.main?.size === 0, find("main")),
    log: emptiedIf(isLogCut, find("log")),
    index: emptiedIf(isIndexCut, find("index")),
    logVersion: `${size}:${now.log?.changed}`,
  };
}

/** Decides what follows from a look; `now` is in ms. */
export function nextState(state: State, found: Found, now: number): State {
  const { main, logVersion } = found;
  const which = (what: Found["log"]): Suffix | undefined =>
    found.log === what ? "-wal" : found.index === what ? "-shm" : undefined;
  const [emptied, replaced, gone] = [
    which("emptied"),
    which("replaced"),
    which("gone"),
  ];
  if (
    state.kind === "log replaced" || state.kind === "log emptied" ||
    state.kind === "main emptied"
  ) return state;
  if (main === "emptied") return { kind: "main emptied" };
  if (emptied) return { kind: "log emptied", suffix: emptied, since: now };
  // Before the log: while the main file is gone the log stays as it is, for when it comes back.
  if (main !== "in place" && state.kind !== "log gone") {
    return { logVersion, ...state, kind: `main ${main}` };
  }
  // Others may have written to the new one: their pages would mix with ours.
  if (replaced) return { kind: "log replaced", suffix: replaced };
  if (state.kind === "log gone") return state;
  return gone ? { kind: "log gone", suffix: gone } : { kind: "in place" };
}

/** Tells whether the database may still be read. */
export function mayRead({ kind }: State): boolean {
  return kind === "in place" || kind === "main gone" ||
    kind === "main replaced";
}

/** Says what happened to the files at `path`, and what to do. */
export function describe(path: string, state: State): string {
  switch (state.kind) {
    case "in place":
      return "the files are in place";
    case "main gone":
      return `${path} was deleted, moved or made unreadable while in use; save the pets that lists still show, then put the same file back; before you restore a backup, move -wal and -shm away`;
    case "main replaced":
      return `${path} was replaced while in use, and pets that were added in the ${LOOK_INTERVAL} ms before are in the old file only; save the pets that lists still show, then restart`;
    case "main emptied":
      return `${path} was emptied while in use; stop all programs that use the database, move -wal and -shm away, and restore a backup`;
    case "log gone":
      return `${path}${state.suffix} was deleted while in use; restart this process before anything else uses the database`;
    case "log replaced":
      return `${path}${state.suffix} was replaced while in use, so another program uses the database; end that program, then restart this process. ${MAY_BE_LOST}`;
    case "log emptied":
      return state.suffix === "-shm"
        ? `${path}-shm was emptied while in use; stop all programs that use the database, then start again`
        : `${path}-wal was emptied while in use; stop all programs that use the database, then start again. ${MAY_BE_LOST}`;
  }
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

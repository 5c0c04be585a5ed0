/**
 * How far a long command is: on a terminal one line that is written over again and again, elsewhere
 * a plain line now and then.
 *
 * @module
 */

/** Where it is written: `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  /** How wide the terminal is, in characters; 0 or absent where that is not known. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** A part of the work: "Copying" so many "animals". */
export interface NewPart {
  readonly doing: string;
  readonly what: string;
  readonly total: number;
  /** How many were done at another time. */
  readonly before?: number;
}

/** Tells how far parts of the work are, one after the other. */
export interface Progress {
  /** Begins a part. Of a total of 0 there is nothing to tell. */
  begin(part: NewPart): void;
  /** So many more are done. */
  add(count: number): void;
  /** Writes a line between. */
  note(text: string): void;
  /** Ends the part that is under way, wherever it is. */
  end(): void;
}

/** How often the line of a terminal is written anew, in ms. */
const TERMINAL_PAUSE = 100;
/** How often a plain line is written, in ms. */
const PLAIN_PAUSE = 5000;
const MAX_BAR = 30;
/** Where there is no place for so much of a bar, there is none. */
const MIN_BAR = 5;
/** So that the bars of all parts begin in one column: the length of "Verifying". */
const WIDEST = 9;
/** The rest of a line at its longest; the bar takes what is left, and so does not change its width. */
const MOST = "  []  100%    999999/s  59 min left";
/** Goes back to the beginning of the line; what was longer before is erased at the end of it. */
const RETURN = "\r";
const ERASE = "\x1b[K";

interface Part extends Required<NewPart> {
  readonly since: number;
}

/**
 * Tells nothing yet.
 *
 * @param now a clock, in ms.
 */
export function progressOn(
  stream: ProgressStream,
  now: () => number = () => performance.now(),
): Progress {
  const pause = stream.isTTY ? TERMINAL_PAUSE : PLAIN_PAUSE;
  let part: Part | undefined;
  let done = 0;
  let writtenAt = 0;

  function write({ doing, what, total, before, since }: Part): void {
    writtenAt = now();
    const facts = [
      `${percent(done, total)}%`,
      `${done} of ${total} ${what}`,
      ...pace(done - before, total - done, (writtenAt - since) / 1000),
    ];
    if (!stream.isTTY) {
      stream.write(`${doing}: ${facts.join(", ")}\n`);
      return;
    }
    // One column stays free: some terminals go on to the next line when the last one is written.
    const room = (stream.columns || 80) - 1;
    const most = `${total} of ${total} ${what}${MOST}`.length;
    const width = Math.min(MAX_BAR, room - WIDEST - most);
    const bar = width < MIN_BAR ? "" : `[${fill(done, total, width)}]  `;
    const line = `${doing.padEnd(WIDEST)}  ${bar}${facts.join("  ")}`.slice(
      0,
      room,
    );
    stream.write(RETURN + line + ERASE);
  }

  function end(): void {
    if (part === undefined) return;
    if (stream.isTTY) {
      write(part);
      stream.write("\n");
    }
    part = undefined;
  }

  return {
    begin({ before = 0, ...rest }) {
      end();
      if (rest.total === 0) return;
      done = before;
      writtenAt = now();
      part = { ...rest, before, since: writtenAt };
      if (stream.isTTY) write(part);
    },
    add(count) {
      done += count;
      if (part !== undefined && now() - writtenAt >= pause) write(part);
    },
    note(text) {
      end();
      stream.write(`${text}\n`);
    },
    end,
  };
}

function percent(done: number, total: number): number {
  return Math.min(100, Math.floor(100 * done / total));
}

function fill(done: number, total: number, width: number): string {
  const full = Math.floor(width * percent(done, total) / 100);
  return "#".repeat(full).padEnd(width, "-");
}

/** How many a second, and how long the rest will take; nothing where that is not known yet. */
function pace(
  done: number,
  rest: number,
  seconds: number,
): readonly string[] {
  if (done === 0 || seconds === 0) return [];
  const rate = `${Math.round(done / seconds)}/s`;
  return rest > 0 ? [rate, `${duration(seconds * rest / done)} left`] : [rate];
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

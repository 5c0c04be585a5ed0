/**
 * Progress of a long command: on a terminal one line, written again and again; elsewhere a plain line
 * now and then.
 *
 * @module
 */

/** Where it is written: `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  /** Width of the terminal in characters; 0 or absent if it is not known. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** A stage of the work: "Copying" so many "pets". */
export interface Stage {
  readonly doing: string;
  readonly what: string;
  readonly total: number;
  /** How many an earlier run has done. Default: 0. */
  readonly before?: number;
}

/** Pause between two lines on a terminal, in ms. */
const TERMINAL_PAUSE = 100;
/** Pause between two plain lines, in ms. */
const PLAIN_PAUSE = 5000;
const MAX_BAR = 30;
/** A bar that would be shorter is left out. */
const MIN_BAR = 5;
/** Width of the longest `doing`, so that the bars of all stages begin in one column. */
const DOING_WIDTH = "Verifying".length;
/** The longest that stands beside bar and count. The bar takes the rest, and so keeps its width. */
const LONGEST = "  []  100%    999999/s  59 min left";
const ERASE_REST_OF_LINE = "\x1b[K";

/** Shows the progress of one stage after another. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #stage: Required<Stage> | undefined;
  #done = 0;
  #startedAt = 0;
  #writtenAt = 0;

  /** @param now a clock, in ms. */
  constructor(stream: ProgressStream, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Begins a stage. A total of 0 is not shown. */
  begin({ before = 0, ...stage }: Stage): void {
    this.end();
    if (stage.total === 0) return;
    this.#stage = { ...stage, before };
    this.#done = before;
    this.#startedAt = this.#writtenAt = this.#now();
    if (this.#stream.isTTY) this.#write(this.#stage);
  }

  /** So many more are done. */
  add(count: number): void {
    this.#done += count;
    const pause = this.#stream.isTTY ? TERMINAL_PAUSE : PLAIN_PAUSE;
    if (this.#stage !== undefined && this.#now() - this.#writtenAt >= pause) {
      this.#write(this.#stage);
    }
  }

  /** Ends the stage and writes a line. */
  note(text: string): void {
    this.end();
    this.#stream.write(`${text}\n`);
  }

  /** Ends the stage, if one is under way. */
  end(): void {
    if (this.#stage !== undefined && this.#stream.isTTY) {
      this.#write(this.#stage);
      this.#stream.write("\n");
    }
    this.#stage = undefined;
  }

  #write({ doing, what, total, before }: Required<Stage>): void {
    const done = this.#done;
    this.#writtenAt = this.#now();
    const seconds = (this.#writtenAt - this.#startedAt) / 1000;
    const percent = Math.min(100, Math.floor(100 * done / total));
    const facts = [
      `${percent}%`,
      `${done} of ${total} ${what}`,
      ...pace(done - before, total - done, seconds),
    ];
    if (!this.#stream.isTTY) {
      this.#stream.write(`${doing}: ${facts.join(", ")}\n`);
      return;
    }
    // One column stays free: some terminals begin a new line after the last one.
    const columns = (this.#stream.columns || 80) - 1;
    const longest = `${total} of ${total} ${what}${LONGEST}`.length;
    const width = Math.min(MAX_BAR, columns - DOING_WIDTH - longest);
    const full = "#".repeat(Math.max(0, Math.floor(width * percent / 100)));
    const bar = width < MIN_BAR ? "" : `[${full.padEnd(width, "-")}]  `;
    const line = `${doing.padEnd(DOING_WIDTH)}  ${bar}${facts.join("  ")}`;
    this.#stream.write(`\r${line.slice(0, columns)}${ERASE_REST_OF_LINE}`);
  }
}

/** How many a second, and how long the rest will take, once that is known. */
function pace(done: number, rest: number, seconds: number): readonly string[] {
  if (done === 0 || seconds === 0) return [];
  const rate = `${Math.round(done / seconds)}/s`;
  return rest > 0 ? [rate, `${duration(seconds * rest / done)} left`] : [rate];
}

function duration(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Progress of a long command: a terminal has one line that is written again and again, anything else a
 * plain line now and then.
 *
 * @module
 */

/** Where it is written: `process.stderr`. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  /** Width of the terminal in characters; 0 or absent if unknown. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** A stage of the work: "Copying" so many "pets". */
export interface Stage {
  readonly doing: string;
  readonly what: string;
  readonly total: number;
  /** How many an earlier run has done. */
  readonly before: number;
}

/** Pause between two lines, in ms. */
const TERMINAL_PAUSE = 100;
const PLAIN_PAUSE = 5000;

/** Shows the progress of one stage after another. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #stage: Stage | undefined;
  #done = 0;
  #startedAt = 0;
  #writtenAt = 0;

  /** @param now a clock, in ms. */
  constructor(stream: ProgressStream, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Begins a stage. A total of 0 is not shown. */
  begin(stage: Omit<Stage, "before"> & Partial<Stage>): void {
    this.end();
    if (stage.total === 0) return;
    this.#stage = { before: 0, ...stage };
    this.#done = this.#stage.before;
    this.#startedAt = this.#writtenAt = this.#now();
    if (this.#stream.isTTY) this.#write(this.#stage);
  }

  /** Counts what was done since the last call. */
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

  #write({ doing, what, total, before }: Stage): void {
    const done = this.#done;
    this.#writtenAt = this.#now();
    const seconds = (this.#writtenAt - this.#startedAt) / 1000;
    const percent = Math.min(100, Math.floor(100 * done / total));
    const facts = [
      `${percent}%`,
      `${done} of ${total} ${what}`,
      ...pace(done - before, total - done, seconds),
    ];
    const { isTTY, columns } = this.#stream;
    if (!isTTY) {
      this.#stream.write(`${doing}: ${facts.join(", ")}\n`);
      return;
    }
    const bar = "#".repeat(Math.floor(percent / 10)).padEnd(10, "-");
    const line = [doing.padEnd(9), `[${bar}]`, ...facts].join("  ");
    // Some terminals begin a new line after the last column: it stays free. \x1b[K erases the rest.
    this.#stream.write(`\r${line.slice(0, (columns || 80) - 1)}\x1b[K`);
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

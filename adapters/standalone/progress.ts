/** Progress of a long command: on a terminal one line, rewritten; elsewhere a line now and then. */

/** Where it is written: `process.stderr`. */
interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** A stage of the work: "Copying" so many "pets", after those that an earlier run has copied. */
interface Stage {
  readonly doing: string;
  readonly what: string;
  readonly total: number;
  readonly before?: number;
}

/** Shows the progress of one stage after another. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #line: (() => string) | undefined;
  #done = 0;
  #writtenAt = 0;

  /** @param now a clock, in ms. */
  constructor(stream: ProgressStream, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Begins a stage. A total of 0 is not shown. */
  begin({ doing, what, total, before = 0 }: Stage): void {
    this.end();
    if (total === 0) return;
    this.#done = before;
    const start = this.#writtenAt = this.#now();
    this.#line = () => {
      const done = this.#done;
      const percent = Math.min(100, Math.floor(100 * done / total));
      const line = `${doing}: ${percent}%, ${done} of ${total} ${what}`;
      const seconds = (this.#writtenAt - start) / 1000;
      if (done === before || seconds === 0) return line;
      const pace = `${line}, ${Math.round((done - before) / seconds)}/s`;
      const left = duration(seconds * (total - done) / (done - before));
      return done < total ? `${pace}, ${left} left` : pace;
    };
    if (this.#stream.isTTY) this.#write();
  }

  /** Counts what was done since the last call. */
  add(count: number): void {
    this.#done += count;
    const pause = this.#stream.isTTY ? 100 : 5000;
    if (this.#now() - this.#writtenAt >= pause) this.#write();
  }

  /** Ends the stage and writes a line. */
  note(text: string): void {
    this.end();
    this.#stream.write(`${text}\n`);
  }

  /** Ends the stage, if one is under way. */
  end(): void {
    if (this.#stream.isTTY) this.#write("\n");
    this.#line = undefined;
  }

  #write(end = ""): void {
    if (this.#line === undefined) return;
    this.#writtenAt = this.#now();
    const line = this.#line();
    // \x1b[K erases what a longer line left.
    this.#stream.write(
      this.#stream.isTTY ? `\r${line}\x1b[K${end}` : `${line}\n`,
    );
  }
}

function duration(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

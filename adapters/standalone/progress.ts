/** Progress of a long command: on a terminal one line, rewritten; elsewhere a line now and then. */

/** Where it is written: `process.stderr`. */
interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows the progress of one stage after another. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #stage: readonly [doing: string, total: number, what: string] | undefined;
  #done = 0;
  #writtenAt = 0;

  /** @param now a clock, in ms. */
  constructor(stream: ProgressStream, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Begins a stage: "Copying" so many "pets". A total of 0 is not shown. */
  begin(doing: string, total: number, what: string): void {
    this.end();
    this.#done = 0;
    this.#writtenAt = this.#now();
    this.#stage = total > 0 ? [doing, total, what] : undefined;
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
    this.#stage = undefined;
  }

  #write(end = ""): void {
    if (this.#stage === undefined) return;
    this.#writtenAt = this.#now();
    const [doing, total, what] = this.#stage;
    const done = Math.min(this.#done, total);
    const percent = Math.floor(100 * done / total);
    const line = `${doing}: ${percent}%, ${done} of ${total} ${what}`;
    // \x1b[K erases what a longer line left.
    this.#stream.write(
      this.#stream.isTTY ? `\r${line}\x1b[K${end}` : `${line}\n`,
    );
  }
}

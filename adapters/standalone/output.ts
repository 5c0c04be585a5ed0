/**
 * Standard output and standard error of a server. Neither a full disk nor a pipe that nobody reads
 * stops the server. Text is written in order, one write at a time, and retried until it is written
 * or the reader is gone. If too much waits, further text is dropped.
 */

import { write } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

/**
 * How long text is collected before it is written at once, in ms. A write costs as much as a
 * request.
 */
const GATHERING_TIME = 10;
/** The pause before another attempt, in ms. */
const RETRY_INTERVAL = 20;
/** Text is dropped once this many characters are queued, not counting the write in progress. */
const MAX_WAITING = 1_048_576;
/**
 * How many bytes Deno gets at once: a pipe accepts all of them or none (POSIX, `write`). Deno 2.9
 * does not report how many bytes it wrote before an error, because it writes through a buffer in
 * Rust (`write` in its ext/io/lib.rs).
 */
const PIPE_BUF = 4096;

const writeBytes = promisify(write);

export class Output {
  readonly #descriptor: 1 | 2;
  #waiting = "";
  #droppedLines = 0;
  #writing: Promise<boolean> | undefined;

  constructor(descriptor: 1 | 2) {
    this.#descriptor = descriptor;
  }

  /** Writes text soon. */
  write(text: string): void {
    if (this.#waiting.length > MAX_WAITING) {
      this.#droppedLines += text.split("\n").length - 1;
      return;
    }
    this.#waiting += text;
    this.#writing ??= this.#writeWaiting();
  }

  /** Resolves once all is written, which may be never; to false if the reader is gone. */
  async flush(): Promise<boolean> {
    return await this.#writing ?? true;
  }

  async #writeWaiting(): Promise<boolean> {
    let isRead = true;
    while (this.#waiting !== "") {
      await delay(GATHERING_TIME);
      if (this.#droppedLines > 0) {
        const line = { time: new Date(), dropped: this.#droppedLines };
        this.#waiting += `${JSON.stringify(line)}\n`;
        this.#droppedLines = 0;
      }
      const text = this.#waiting;
      this.#waiting = "";
      isRead = await this.#writeWhole(text);
    }
    this.#writing = undefined;
    return isRead;
  }

  /** Returns false if the reader is gone. */
  async #writeWhole(text: string): Promise<boolean> {
    let bytes = new TextEncoder().encode(text);
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(await writeSome(this.#descriptor, bytes));
      } catch (error) {
        if ((error as { readonly code?: string }).code === "EPIPE") {
          return false;
        }
        await delay(RETRY_INTERVAL);
      }
    }
    return true;
  }
}

/** Writes once, and returns how many bytes were written. A stream would end at the first error. */
async function writeSome(
  descriptor: 1 | 2,
  bytes: Uint8Array,
): Promise<number> {
  // Deno 2.9's node:fs would block the event loop while a pipe is full. Can go if
  // tests/adapters/standalone/log_test.ts passes on Deno without it.
  if ("Deno" in globalThis) {
    const stream = descriptor === 1 ? Deno.stdout : Deno.stderr;
    // Whole lines: the other workers of `deno serve --parallel` write there too.
    const end = bytes.lastIndexOf(0x0a, PIPE_BUF - 1) + 1 || PIPE_BUF;
    return await stream.write(bytes.subarray(0, end));
  }
  return (await writeBytes(descriptor, bytes)).bytesWritten;
}

export const standardOutput: Output = new Output(1);
export const standardError: Output = new Output(2);

/** Resolves once all is written, or after 3 s: then `process.exit` drops the rest. */
export async function flushOutput(): Promise<void> {
  const written = Promise.all([standardOutput.flush(), standardError.flush()]);
  await Promise.race([written, delay(3000)]);
}

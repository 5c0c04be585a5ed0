/** Deadlines that share one timer: one for each body costs 5 to 16 µs, as much as the rest of reading it. */

/** A time by which something must have finished. */
export interface Deadline {
  /** In ms, by `performance.now()`. */
  readonly due: number;
  readonly onLate: () => void;
  /** Its own timer, if it does not share one. */
  timer?: Timer;
}

type Timer = ReturnType<typeof setTimeout>;

/** Deadlines in the order in which they fall due. */
export class Deadlines {
  readonly #duration: number;
  readonly #waiting = new Set<Deadline>();
  /** On Deno, Bun and Node; elsewhere a timer may end with the request that it was made for. */
  #shared: ProcessTimer | undefined;

  /** @param duration how far away each deadline is, in ms. */
  constructor(duration: number) {
    this.#duration = duration;
  }

  /** Begins to wait: calls `onLate` when the time is over, unless `stop` is called before. */
  start(onLate: () => void): Deadline {
    const due = performance.now() + this.#duration;
    const deadline: Deadline = { due, onLate };
    this.#waiting.add(deadline);
    if (this.#shared === undefined) this.#setTimer(deadline, this.#duration);
    else if (this.#waiting.size === 1) this.#shared.ref();
    return deadline;
  }

  /** Ends the wait. */
  stop(deadline: Deadline): void {
    this.#waiting.delete(deadline);
    clearTimeout(deadline.timer);
    // The shared timer stays for the next one, and keeps no process alive meanwhile.
    if (this.#waiting.size === 0) this.#shared?.unref();
  }

  #setTimer(deadline: Deadline, delay: number): void {
    const timer = setTimeout(() => this.#check(), delay);
    if (isProcessTimer(timer)) this.#shared = timer;
    else deadline.timer = timer;
  }

  #check(): void {
    const isShared = this.#shared !== undefined;
    this.#shared = undefined;
    const now = performance.now() + 1; // a timer may be a little early
    const late: Deadline[] = [];
    for (const deadline of this.#waiting) {
      if (deadline.due > now) {
        if (isShared) this.#setTimer(deadline, deadline.due - now);
        break;
      }
      this.#waiting.delete(deadline);
      late.push(deadline);
    }
    for (const { onLate } of late) onLate();
  }
}

interface ProcessTimer {
  ref(): void;
  unref(): void;
}

function isProcessTimer(timer: unknown): timer is ProcessTimer {
  return typeof timer === "object" && timer !== null && "unref" in timer;
}

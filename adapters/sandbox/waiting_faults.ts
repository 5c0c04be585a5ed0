/** The faults that wait for requests. */

import { checkFaults } from "./check_faults.ts";
import type { Fault } from "./fault.ts";
import { appliesTo, type Arrived } from "./match_fault.ts";

/** How many may wait. */
const MAX_FAULTS = 1000;
/** How many characters they may have as JSON. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** How many those of all worlds together may have. */
const MAX_TOTAL = 64 * 1024 * 1024;

export class WaitingFaults {
  #faults: readonly Fault[] = [];
  /** In characters of JSON, when faults were last added. */
  #length = 0;
  readonly #total: () => number;

  /** `total` returns the length of those of all worlds. */
  constructor(total: () => number) {
    this.#total = total;
  }

  /** In characters of JSON, or more. */
  get length(): number {
    return this.#faults.length === 0 ? 0 : this.#length;
  }

  /** Adds one or more. Throws as `checkFaults` does; then none is added. */
  add(input: unknown): void {
    const added: readonly unknown[] = Array.isArray(input) ? input : [input];
    const isMany = this.#faults.length + added.length > MAX_FAULTS;
    const all = isMany ? [] : [...this.#faults, ...checkFaults(added)];
    const { length } = JSON.stringify(all);
    if (isMany || length > MAX_LENGTH) {
      throw new TypeError(
        `Cannot add faults: at most ${MAX_FAULTS} may wait, of ${MAX_LENGTH} characters`,
      );
    }
    if (this.#total() - this.length + length > MAX_TOTAL) {
      throw new TypeError(
        `Cannot add faults: those of all worlds may have ${MAX_TOTAL} characters. Let each test end its own with DELETE /sandbox`,
      );
    }
    this.#faults = all;
    this.#length = length;
  }

  /** Takes the first that applies to a request. */
  take(request: Arrived): Fault | undefined {
    const found = this.#faults.find((fault) => appliesTo(fault, request));
    if (found === undefined || found.times === "always") return found;
    const times = (found.times ?? 1) - 1;
    const rest = times === 0 ? [] : [{ ...found, times }];
    const place = this.#faults.indexOf(found);
    this.#faults = this.#faults.toSpliced(place, 1, ...rest);
    return found;
  }

  /** Copies them, as `Journal.list` does. */
  list(): readonly Fault[] {
    return JSON.parse(JSON.stringify(this.#faults));
  }

  clear(): void {
    this.#faults = [];
  }
}

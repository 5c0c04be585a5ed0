/**
 * Which pets were added with which idempotency keys, kept in memory.
 *
 * @module
 */

interface Kept {
  readonly position: number;
  /** When, in ms. */
  readonly created: number;
}

/** The position of the pet of each key, for as long as keys are kept. */
export class IdempotencyKeys {
  readonly #retention: number;
  readonly #now: () => number;
  /** In order of time. */
  readonly #keys = new Map<string, Kept>();

  /** @param retention in ms. */
  constructor(retention: number, now: () => number = () => performance.now()) {
    if (!Number.isSafeInteger(retention) || retention < 0) {
      throw new RangeError(
        `idempotencyRetention must be an integer of at least 0, not ${retention}`,
      );
    }
    this.#retention = retention;
    this.#now = now;
  }

  /** How many are kept, with those that are not forgotten yet. */
  get size(): number {
    return this.#keys.size;
  }

  /** The position of the pet that was added with a key; `undefined` if there is none any more. */
  find(key: string): number | undefined {
    const kept = this.#keys.get(key);
    return kept === undefined || this.#isOld(kept) ? undefined : kept.position;
  }

  /** Keeps the position of a key that is not found. */
  keep(key: string, position: number): void {
    // Two go for each that comes, so that the map shrinks without holding anything up.
    let left = 2;
    for (const [old, kept] of this.#keys) {
      if (left-- === 0 || !this.#isOld(kept)) break;
      this.#keys.delete(old);
    }
    this.#keys.delete(key); // or it would keep its old place in the order
    this.#keys.set(key, { position, created: this.#now() });
  }

  #isOld({ created }: Kept): boolean {
    return created <= this.#now() - this.#retention;
  }
}

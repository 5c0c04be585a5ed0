/** Which pet each idempotency key added, kept in memory. */

import { checkAtLeast } from "../database/check_option.ts";

interface Kept {
  readonly position: number;
  /** When, in ms. */
  readonly created: number;
}

/** The position of the pet of each key, for as long as keys are kept. */
export class IdempotencyKeys {
  readonly #retention: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #keys = new Map<string, Kept>();

  /** @param retention in ms. */
  constructor(retention: number, now: () => number = () => performance.now()) {
    checkAtLeast(0, { idempotencyRetention: retention });
    this.#retention = retention;
    this.#now = now;
  }

  /** How many keys are in memory, expired ones included. */
  get size(): number {
    return this.#keys.size;
  }

  /** The position of the pet that a key added; `undefined` if the key is unknown or expired. */
  find(key: string): number | undefined {
    const kept = this.#keys.get(key);
    return kept === undefined || this.#isOld(kept) ? undefined : kept.position;
  }

  /** Keeps the position for a key that is not found. */
  keep(key: string, position: number): void {
    // Each new key drops up to two expired ones, so the map shrinks without a pause.
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

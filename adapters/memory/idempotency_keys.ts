/** Which pet each idempotency key added, kept in memory. */

import type { Pet } from "../../core/pets/pet.ts";

interface Kept {
  readonly pet: Pet;
  /** When the key was sent, in ms. */
  readonly created: number;
}

/** The pet of each key, until the key expires. */
export class IdempotencyKeys {
  readonly #retention: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();

  /** @param retention in ms; `now` returns the time in ms. */
  constructor(retention: number, now: () => number = () => performance.now()) {
    this.#retention = retention;
    this.#now = now;
  }

  /** The number of keys in memory. */
  get size(): number {
    return this.#kept.size;
  }

  /** Finds the pet that a key added; `undefined` if the key is unknown or expired. */
  find(key: string): Pet | undefined {
    this.#forgetExpired();
    return this.#kept.get(key)?.pet;
  }

  /** Keeps the pet of a key that was not found. */
  keep(key: string, pet: Pet): void {
    this.#kept.set(key, { pet, created: this.#now() });
  }

  /** Forgets every key. */
  clear(): void {
    this.#kept.clear();
  }

  #forgetExpired(): void {
    const newestExpired = this.#now() - this.#retention;
    for (const [key, { created }] of this.#kept) {
      if (created > newestExpired) return;
      this.#kept.delete(key);
    }
  }
}

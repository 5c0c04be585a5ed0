/** The stores of a sandbox: one, or one for each key. */

import {
  apiKeys,
  checkFunction,
  checkIntegers,
  checkNames,
  invalidKey,
  MAX_TIME,
  parseBearer,
  Refusal,
} from "../../core/kit.ts";
import { Journal, type SandboxEvent, shorten } from "./journal.ts";
import type { SeedPet } from "../storage/memory/mod.ts";
import { makeSeed } from "./seed.ts";
import { createStore, type Store } from "./store.ts";
import { WaitingFaults } from "./waiting_faults.ts";

/** Settings of `sandbox`. */
export interface SandboxOptions {
  /**
   * The pets it starts with: this many, always the same, with ids from 1; or the given ones.
   * Default: none.
   */
  readonly pets?: number | readonly SeedPet[];
  /** The id of the first pet that is added, above those of `pets`. Default: the next. */
  readonly nextId?: bigint;
  /** If false, `getPet` is gone, as it will be after 5 December 2030. Default: true. */
  readonly getPet?: boolean;
  /** The API key, or several, each with its own idempotency keys. Default: `test`. */
  readonly key?: string | readonly string[];
  /**
   * If true, each other key that begins with `test-` (visible ASCII, at most 64 characters) is a
   * world of its own from its first request: pets, ids, faults, journal, idempotency keys. Default:
   * false.
   */
  readonly worlds?: boolean;
  /** Delay before each answer, after the work, in ms: 0 to 2147483647. Default: none. */
  readonly delay?: number;
  /**
   * The maximum number of pets, of all worlds together. Further creates are answered with 503, as
   * on a full disk. Default: 100000.
   */
  readonly maxPets?: number;
  /** Receives what happens to each request, as it happens. */
  readonly onEvent?: (event: SandboxEvent) => void;
}

const NAMES = [
  "pets",
  "nextId",
  "getPet",
  "key",
  "worlds",
  "delay",
  "maxPets",
  "onEvent",
];
const WORLD_KEY = /^test-[\x21-\x7e]{0,59}$/;
const MAX_WORLDS = 1000;

const tooMany = new Refusal(
  "service_unavailable",
  `Cannot begin a world: there are ${MAX_WORLDS}. Let each test end its own with DELETE /sandbox`,
  { "retry-after": "1" },
);
const full = new Refusal(
  "service_unavailable",
  "Cannot begin a world: there would be more than --max-pets pets. Let each test end its own with DELETE /sandbox",
  { "retry-after": "1" },
);

export type Worlds = ReturnType<typeof createWorlds>;

/** Throws as `sandbox` does. */
export function createWorlds(options: SandboxOptions) {
  checkNames(options, NAMES, "sandbox");
  const { pets = 0, nextId, getPet = true, worlds = false, delay = 0 } =
    options;
  const { key = "test", maxPets = 100_000, onEvent } = options;
  checkIntegers({ delay }, 0, MAX_TIME);
  checkIntegers({ maxPets }, 0);
  if (onEvent !== undefined) checkFunction(onEvent, "onEvent");
  const fixedKeys: readonly string[] = [key].flat();
  apiKeys(fixedKeys); // throws if one is wrong, or there is none
  const seed = makeSeed(pets, maxPets, nextId);
  /** By store, its keys, the first of which began it. */
  const keysOf = new Map<Store, string[]>();
  const byKey = new Map<string, Store>();
  const first = begin(fixedKeys);

  /** Returns how many more pets all stores may keep. */
  function room(): number {
    return keysOf.keys().reduce((left, { size }) => left - size, maxPets);
  }

  /** Returns how long the faults of all stores are. */
  function lengthOfFaults(): number {
    return keysOf.keys().reduce((sum, { faults }) => sum + faults.length, 0);
  }

  function begin(keys: readonly string[]): Store {
    const onGrowth = () => shorten(keysOf.keys().map(({ journal }) => journal));
    const journal = new Journal(onEvent, onGrowth);
    const faults = new WaitingFaults(lengthOfFaults);
    const own = [...keys];
    const settings = { seed, keys: own, getPet, delay, room, faults, journal };
    const store = createStore(settings);
    keysOf.set(store, own);
    for (const key of keys) byKey.set(key, store);
    return store;
  }

  /** Tells whether a key is, or can become, a world of its own. */
  function isWorldKey(key: unknown): key is string {
    return worlds && typeof key === "string" && WORLD_KEY.test(key) &&
      !fixedKeys.includes(key);
  }

  return {
    first,
    key: fixedKeys[0] as string,
    get count() {
      return worlds ? keysOf.size - 1 : undefined;
    },
    /**
     * Finds the store of an `Authorization` field, and begins a world for a new key. The service of
     * the first store refuses all other keys.
     */
    find(authorization: string | null): Store | Refusal {
      const key = parseBearer(authorization);
      if (!isWorldKey(key)) return first;
      const store = byKey.get(key);
      if (store !== undefined) return store;
      if (keysOf.size > MAX_WORLDS) return tooMany;
      if (seed.pets.length > room()) return full;
      return begin([key]);
    },
    /** Finds the store that the control address is asked for; 401 if a key is wrong. */
    findControlled(authorization: string | null): Store | Refusal {
      if (!worlds || authorization === null) return first;
      const key = parseBearer(authorization);
      const isKnown = isWorldKey(key) || fixedKeys.includes(String(key));
      return isKnown ? this.find(authorization) : invalidKey;
    },
    /** Ends the world of a field, if there is one. Throws if it is not that of a world. */
    end(authorization: string | null): void {
      const key = parseBearer(authorization);
      if (!isWorldKey(key)) {
        throw new TypeError(
          "Cannot end the sandbox: only a world that a key test-… began can be ended, with its Authorization",
        );
      }
      const store = byKey.get(key);
      if (store === undefined) return;
      for (const key of keysOf.get(store) ?? []) byKey.delete(key);
      keysOf.delete(store);
    },
    /**
     * Sets the keys of a store, besides those that it began with.
     *
     * @returns a key that has a world of its own; then nothing is changed.
     * @throws {TypeError} if this is not an array of such keys.
     */
    setKeys(store: Store, keys: unknown): string | undefined {
      if (!Array.isArray(keys) || !keys.every(isWorldKey)) {
        throw new TypeError(
          'Cannot set keys: with --worlds, send a JSON array of keys that begin with "test-", of at most 64 visible ASCII characters',
        );
      }
      const taken = keys.find((key) => (byKey.get(key) ?? store) !== store);
      if (taken !== undefined) return taken;
      const own = keysOf.get(store) ?? [];
      const kept = store === first ? fixedKeys : own.slice(0, 1);
      for (const key of own) byKey.delete(key);
      own.length = 0; // not splice(): it fails for more values than the stack has room for
      for (const key of new Set([...kept, ...keys])) {
        own.push(key);
        byKey.set(key, store);
      }
      return undefined;
    },
  };
}

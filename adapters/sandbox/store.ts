/** The service of a sandbox: a pet store in memory, its journal and its faults. */

import { setTimeout as sleep } from "node:timers/promises";
import { readHandlerOptions } from "../../core/handler.ts";
import { parseBaseUrl } from "../../core/http/base_url.ts";
import { readText } from "../../core/http/body.ts";
import { corsLayer } from "../../core/http/cors.ts";
import type { Answer, ServiceRequest } from "../../core/http/message.ts";
import { Refusal } from "../../core/http/refusal.ts";
import { parseTarget } from "../../core/http/target.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { checkIntegers, MAX_TIME } from "../../core/options.ts";
import { getPet } from "../../core/operations/get_pet.ts";
import type { CheckedPet } from "../../core/pets/pet.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { createService } from "../../core/service.ts";
import { memoryStorage } from "../storage/memory/mod.ts";
import { cutAnswer, dripAnswer } from "./broken_body.ts";
import {
  checkFaults,
  contractAnswer,
  type Fault,
  isContractError,
  isFor,
  matches,
} from "./fault.ts";
import { type Entry, Journal, ReadRequest, settle } from "./journal.ts";
import { makeSeed } from "./seed.ts";

/** The options of a sandbox, with the defaults filled in. */
export interface StoreOptions {
  readonly pets: unknown;
  readonly key: string;
  readonly delay: number;
  readonly maxPets: number;
}

/** How a request came, and how its answer can be lost. */
export interface Exchange {
  readonly entry: Entry;
  /** Aborted if the client goes away. */
  readonly signal: AbortSignal;
  /** Waits until what was written is on its way. */
  readonly flush: () => Promise<void>;
}

const MAX_FAULTS = 1000;
/** The most characters of all faults that wait, as JSON. */
const MAX_LENGTH = 16 * 1024 * 1024;
const BASE_URL = "/v1";

export type Store = ReturnType<typeof createStore>;

/** @throws {TypeError} or a RangeError if an option is wrong. */
export function createStore({ pets, key, delay, maxPets }: StoreOptions) {
  checkIntegers({ delay }, 0, MAX_TIME);
  checkIntegers({ maxPets }, 0);
  let seed = makeSeed(pets, maxPets);
  let storage = limitedStorage(seed, maxPets);
  let faults: readonly Fault[] = [];
  const journal = new Journal();
  const cors = corsLayer({ origins: "*" });
  const service = cors(createService(readHandlerOptions({
    storage: {
      create: (pet, options) => storage.create(pet, options),
      get: (id) => storage.get(id),
      list: (request) => storage.list(request),
      ping: () => storage.ping(),
      close: () => Promise.resolve(),
    },
    keys: apiKeys([key]),
    // A store that is full is what the tester asked for.
    onError: (cause) => cause instanceof StorageError || console.error(cause),
  })));

  function reset(): void {
    storage = limitedStorage(seed, maxPets);
    faults = [];
    journal.clear();
  }

  /** Takes the first fault that is for a request. */
  function takeFault(
    request: ServiceRequest,
    path: string,
  ): Fault | undefined {
    const { method, headers } = request;
    const isPreflight = method === "OPTIONS" &&
      headers.get("access-control-request-method") !== null;
    const found = faults.find((fault) =>
      isFor(fault, { method, path, isPreflight })
    );
    if (found === undefined || found.times === "always") return found;
    const times = (found.times ?? 1) - 1;
    faults = faults.flatMap((fault) =>
      fault !== found ? [fault] : times === 0 ? [] : [{ ...fault, times }]
    );
    return found;
  }

  /** Answers a request; `undefined` if the answer is lost. Never rejects. */
  async function answer(
    received: ServiceRequest,
    { entry, signal, flush }: Exchange,
  ): Promise<Answer | undefined> {
    const request = new ReadRequest(received);
    const target = parseTarget(received);
    const path = target instanceof Refusal ? "" : target.path;
    const taken = takeFault(received, path);
    if (taken !== undefined) {
      entry.fault = taken;
      journal.measure(entry);
    }
    const { fault, applied } = taken === undefined
      ? preferred(received.headers.get("prefer"))
      : { fault: taken, applied: undefined };

    const isReplaced = fault.answer !== undefined || fault.lose === true;
    let result: Answer | undefined;
    if (!isReplaced || fault.work === true) {
      result = await service(request);
      // Without a Content-Length the service learns only by reading whether there is a body to refuse.
      entry.body = result.status === 415 ? null : await request.text();
      journal.measure(entry);
    } else if (fault.lose === true) {
      // Bytes that nobody has read would make a reset of the end of the connection.
      await readText(received, { maxBodyBytes: 65_536, bodyTimeout: 1000 });
    }
    if (fault.answer !== undefined) {
      result = await replaced(request, path, fault);
    } else if (fault.lose === true) result = undefined;
    if (result !== undefined && received.method !== "HEAD") {
      if (fault.cut !== undefined) {
        result = await cutAnswer(result, fault.cut, flush);
      } else if (fault.drip !== undefined) {
        result = await dripAnswer(result, fault.drip);
      }
    }
    if (result !== undefined) result = withPreferences(result, applied);
    const time = fault.delay ?? delay;
    if (time > 0) await sleep(time, undefined, { signal }).catch(() => {});
    settle(entry, signal.aborted ? null : result?.status ?? null);
    return result;
  }

  /** The answer that a fault gives in place of the true one. */
  async function replaced(
    request: ServiceRequest,
    path: string,
    { answer, work }: Fault,
  ): Promise<Answer> {
    if (answer === undefined) throw new TypeError("The fault has no answer");
    const { method } = request;
    const fields = matches(`${BASE_URL}${getPet.path}`, path) &&
        answer.status !== 405
      ? getPet.fields?.(parseBaseUrl(BASE_URL))
      : undefined;
    const made = contractAnswer(answer, { method, work, fields });
    const wrapped = await cors(async () => made)(request);
    const headers: Record<string, string> = { ...wrapped.headers };
    for (const [name, value] of Object.entries(answer.headers ?? {})) {
      if (value === null) delete headers[name.toLowerCase()];
      else headers[name.toLowerCase()] = value;
    }
    return { ...wrapped, headers };
  }

  return {
    answer,
    journal,
    reset,
    /** The number of pets there are. */
    get pets() {
      return storage.count;
    },
    get faults() {
      return faults;
    },
    /** @throws {TypeError} if one is wrong, or there are too many; then none is added. */
    add(input: unknown): void {
      const all = [...faults, ...checkFaults(input)];
      if (
        all.length > MAX_FAULTS || JSON.stringify(all).length > MAX_LENGTH
      ) {
        throw new TypeError(
          `Cannot add faults: at most ${MAX_FAULTS} may wait, of ${MAX_LENGTH} characters together`,
        );
      }
      faults = all;
    },
    removeFaults(): void {
      faults = [];
    },
    /** Throws as `makeSeed` does; then nothing is changed. */
    seed(pets: unknown): void {
      seed = makeSeed(pets, maxPets);
      reset();
    },
  };
}

/** Makes a storage of the pets of a seed that refuses to add more than `maxPets`, as a full disk does. */
function limitedStorage(seed: readonly CheckedPet[], maxPets: number) {
  const keys = new Set<string>();
  let count = seed.length;
  const seeding = (async () => {
    const storage = memoryStorage();
    for (const pet of seed) await storage.create(pet);
    return storage;
  })();
  return {
    get count() {
      return count;
    },
    async create(pet, options) {
      const storage = await seeding;
      const key = options?.idempotencyKey;
      // A replay adds nothing.
      const isReplay = key !== undefined && keys.has(key);
      if (!isReplay && count >= maxPets) {
        throw new StorageError(
          "unavailable",
          `Cannot create pet: the sandbox has its maximum of ${maxPets} pets`,
        );
      }
      if (!isReplay) count++;
      if (key !== undefined) keys.add(key);
      return await storage.create(pet, options);
    },
    get: async (id) => await (await seeding).get(id),
    list: async (request) => await (await seeding).list(request),
    ping: async () => await (await seeding).ping(),
  } satisfies Omit<PetStorage, "close"> & { readonly count: number };
}

/** Reads `Prefer: code=503, delay=2000` (RFC 7240) as a fault; `applied` are the preferences that were honoured. */
function preferred(
  field: string | null,
): { readonly fault: Fault; readonly applied: string | undefined } {
  const found = new Map<string, number>();
  // The first of a name counts (RFC 7240 §2); parameters are ignored.
  const preferences = field?.matchAll(
    /(?:^|,)\s*(code|delay)\s*=\s*"?(\d{1,10})"?\s*(?=[;,]|$)/gi,
  );
  for (const [, name = "", value] of preferences ?? []) {
    const lower = name.toLowerCase();
    if (!found.has(lower)) found.set(lower, Number(value));
  }
  const status = found.get("code");
  const delay = found.get("delay");
  const isCode = status !== undefined && isContractError(status);
  const isDelay = delay !== undefined && delay <= MAX_TIME;
  const applied = [
    ...isCode ? [`code=${status}`] : [],
    ...isDelay ? [`delay=${delay}`] : [],
  ].join(", ");
  return {
    fault: { ...isCode && { answer: { status } }, ...isDelay && { delay } },
    applied: applied === "" ? undefined : applied,
  };
}

/** Adds what was honoured, and lets pages of other origins send `Prefer`. */
function withPreferences(answer: Answer, applied: string | undefined): Answer {
  const headers: Record<string, string> = { ...answer.headers };
  for (
    const [name, more] of [
      ["access-control-allow-headers", "Prefer"],
      ["access-control-expose-headers", "Preference-Applied"],
    ] as const
  ) {
    if (headers[name] !== undefined) headers[name] += `, ${more}`;
  }
  if (applied !== undefined) headers["preference-applied"] = applied;
  return { ...answer, headers };
}

/** The service of a sandbox: a pet store in memory with its faults and its journal. */

import { once } from "node:events";
import type { Socket } from "node:net";
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from "node:timers/promises";
import { readHandlerOptions } from "../../core/handler.ts";
import { readText } from "../../core/http/body.ts";
import { corsLayer } from "../../core/http/cors.ts";
import {
  type Answer,
  type ReadBody,
  type ServiceRequest,
  withFields,
} from "../../core/http/message.ts";
import { INT64_MAX } from "../../core/json.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { checkIntegers, checkNames, MAX_TIME } from "../../core/options.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { createService } from "../../core/service.ts";
import { memoryStorage } from "../storage/memory/mod.ts";
import {
  checkFaults,
  codeOf,
  type Fault,
  type FaultAnswer,
  madeAnswer,
  matches,
} from "./fault.ts";
import { type Entry, Journal, recording, settle } from "./journal.ts";
import { makeSeed, type SeedPet, withSeed } from "./seed.ts";

/** How many faults may wait, and how many characters they may have as JSON. */
const [MAX_FAULTS, MAX_LENGTH] = [1000, 16 * 1024 * 1024];
/** How many pieces per second a dripping body has. */
const PIECES = 10;
/** Lets pages of other origins send `Prefer`, and read which preferences were applied. */
const PREFER_FIELDS: readonly (readonly [string, string])[] = [
  ["access-control-allow-headers", "Prefer"],
  ["access-control-expose-headers", "Preference-Applied"],
];

/** Settings of `sandbox`. */
export interface SandboxOptions {
  /**
   * The pets it starts with: this many, always the same, with ids from 1; or the given ones.
   * Default: none.
   */
  readonly pets?: number | readonly SeedPet[];
  /** The API key. Default: `test`. */
  readonly key?: string;
  /** Delay before each answer, after the work, in ms: 0 to 2147483647. Default: none. */
  readonly delay?: number;
  /**
   * The maximum number of pets. Further creates are answered with 503, as on a full disk. Default:
   * 100000.
   */
  readonly maxPets?: number;
}

/** How a request arrived. */
export interface Exchange {
  readonly entry: Entry;
  /** The path as it was sent. */
  readonly path: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  readonly readBody: ReadBody;
  /** Absent in process. */
  readonly socket?: Socket;
}

export type Store = ReturnType<typeof createStore>;

/** Throws as `sandbox` does. */
export function createStore(options: SandboxOptions) {
  checkNames(options, ["pets", "key", "delay", "maxPets"], "sandbox");
  const { pets = 0, key = "test", delay = 0, maxPets = 100_000 } = options;
  checkIntegers({ delay }, 0, MAX_TIME);
  checkIntegers({ maxPets }, 0);
  const cors = corsLayer({ origins: "*" });
  const journal = new Journal();
  let seed = makeSeed(pets, maxPets);
  let faults: readonly Fault[] = [];
  let state = open();

  /** Opens the service with the pets of the seed. */
  function open() {
    const storage = withSeed(memoryStorage(), seed);
    const idsLeft = Number(INT64_MAX - (seed.at(-1)?.id ?? 0n));
    const most = Math.min(maxPets, seed.length + idsLeft);
    const count = { pets: seed.length };
    const usedKeys = new Set<string>();
    const create: PetStorage["create"] = async (pet, options) => {
      const { idempotencyKey = "" } = options ?? {};
      if (!usedKeys.has(idempotencyKey)) { // otherwise it adds nothing
        if (count.pets >= most) {
          throw new StorageError(
            "unavailable",
            `Cannot create pet: the sandbox is full (${most} pets)`,
          );
        }
        count.pets++;
      }
      if (idempotencyKey !== "") usedKeys.add(idempotencyKey);
      return await storage.create(pet, options);
    };
    const service = createService(readHandlerOptions({
      storage: { ...storage, create },
      keys: apiKeys([key]),
      onError: (cause) => cause instanceof StorageError || console.error(cause),
    }));
    return { service: cors(service), count };
  }

  function reset(): void {
    state = open();
    faults = [];
    journal.clear();
  }

  /** Takes the first fault that applies to a request. */
  function takeFault(
    { method, headers }: ServiceRequest,
    path: string,
  ): Fault | undefined {
    const isPreflight = method === "OPTIONS" &&
      headers.get("access-control-request-method") !== null;
    const found = faults.find(({ when = {} }) =>
      (when.method ?? (isPreflight ? "" : method)) === method &&
      matches(when.path ?? path, path)
    );
    if (found === undefined || found.times === "always") return found;
    const times = (found.times ?? 1) - 1;
    const rest = times === 0 ? [] : [{ ...found, times }];
    faults = faults.flatMap((fault) => fault === found ? rest : [fault]);
    return found;
  }

  /** Answers a request; returns `undefined` if the answer is lost. It never rejects. */
  async function answer(
    request: ServiceRequest,
    exchange: Exchange,
  ): Promise<Answer | undefined> {
    const { entry, path, signal, readBody } = exchange;
    const { method, headers } = request;
    const taken = takeFault(request, path);
    if (taken !== undefined) entry.fault = taken;
    const [fault, applied] = taken === undefined
      ? preferred(headers.get("prefer"))
      : [taken, ""];
    const { status, headers: changes, body } = fault.answer ?? {};
    const isTrue = status === undefined && fault.lose === undefined;
    let result: Answer | undefined;
    if (isTrue || fault.work === true) {
      result = await state.service(
        request,
        undefined,
        recording(readBody, entry),
      );
      // A body of unknown length is read before its type is refused.
      if (result.status === 415) entry.body = null;
    } else if (fault.lose === true) {
      // Closing a connection with unread bytes would reset it.
      await readText(
        request,
        { maxBodyBytes: 65_536, bodyTimeout: 1000 },
        readBody,
      );
    }
    journal.measure(entry);
    if (fault.lose === true) result = undefined;
    else if (status !== undefined) {
      const made = madeAnswer({ status, body }, [method, path], fault.work);
      result = await cors(async () => made)(request, undefined, readBody);
    }
    result &&= withPreferences(replaceFields(result, changes), applied);
    if (result !== undefined && method !== "HEAD") {
      result = await breakBody(result, fault, exchange);
    }
    const time = fault.delay ?? delay;
    if (time > 0) await sleep(time, undefined, { signal }).catch(() => {}); // the client left early
    settle(entry, signal.aborted ? null : result?.status ?? null);
    return result;
  }

  return {
    key,
    answer,
    journal,
    reset,
    get pets() {
      return state.count.pets;
    },
    get faults() {
      return structuredClone(faults);
    },
    /** Throws as `checkFaults` does; then none is added. */
    add(input: unknown): void {
      const length = Array.isArray(input) ? input.length : 1;
      const isMany = faults.length + length > MAX_FAULTS;
      const all = isMany ? [] : [...faults, ...checkFaults(input)];
      if (isMany || JSON.stringify(all).length > MAX_LENGTH) {
        throw new TypeError(
          `Cannot add faults: at most ${MAX_FAULTS} may wait, of ${MAX_LENGTH} characters`,
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

/** Sets the header fields that a tester gave, and removes those that are `null`. */
function replaceFields(
  answer: Answer,
  changes: FaultAnswer["headers"] = {},
): Answer {
  const fields = new Map(Object.entries(answer.headers));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) fields.delete(name.toLowerCase());
    else fields.set(name.toLowerCase(), value);
  }
  return { ...answer, headers: Object.fromEntries(fields) };
}

/** Reads `Prefer: code=503, delay=2000` (RFC 7240) as a fault, and says which part is applied. */
function preferred(field: string | null): readonly [Fault, string] {
  const preferences = (field ?? "").split(",").map((preference) => {
    const [words = ""] = preference.split(";", 1); // parameters follow
    const [name = "", value = ""] = words.split("=");
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
  });
  const read = (name: string): number => {
    const [, value = ""] = preferences.find(([first]) => first === name) ?? [];
    return /^\d{1,10}$/.test(value) ? Number(value) : NaN;
  };
  const [status, delay] = [read("code"), read("delay")];
  const answer = codeOf(status) === undefined ? undefined : { status };
  const isDelay = delay <= MAX_TIME;
  const applied = [answer && `code=${status}`, isDelay && `delay=${delay}`]
    .filter(Boolean).join(", ");
  return [{ ...answer && { answer }, ...isDelay && { delay } }, applied];
}

function withPreferences(answer: Answer, applied: string): Answer {
  const headers: Record<string, string> = { ...answer.headers };
  for (const [name, more] of PREFER_FIELDS) {
    if (headers[name] !== undefined) headers[name] += `, ${more}`;
  }
  if (applied !== "") headers["preference-applied"] = applied;
  return { ...answer, headers };
}

/** Makes the body of an answer break off, or arrive slowly, if a fault says so. */
async function breakBody(
  answer: Answer,
  fault: Fault,
  exchange: Exchange,
): Promise<Answer> {
  if (fault.cut === undefined && fault.drip === undefined) return answer;
  const bytes = new Uint8Array(await new Response(answer.body).arrayBuffer());
  if (bytes.byteLength <= (fault.cut ?? 0)) return answer;
  const body = ReadableStream.from(pieces(bytes, fault, exchange));
  return withFields({ ...answer, body }, {
    "content-length": String(bytes.byteLength),
  });
}

async function* pieces(
  bytes: Uint8Array,
  { cut, drip = 1 }: Fault,
  { signal, socket }: Exchange,
): AsyncGenerator<Uint8Array> {
  if (cut !== undefined) {
    if (cut > 0) yield bytes.subarray(0, cut);
    // The header and the piece must have left the process first.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    if (socket !== undefined && socket.writableLength > 0) {
      await once(socket, "drain", { signal });
    }
    throw new TypeError("terminated"); // as undici's fetch
  }
  const size = Math.ceil(drip / PIECES);
  for (let start = 0; start < bytes.byteLength; start += size) {
    await sleep(1000 * size / drip, undefined, { signal });
    yield bytes.subarray(start, start + size);
  }
}

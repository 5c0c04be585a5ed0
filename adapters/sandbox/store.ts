/** The service of a sandbox: a pet store in memory with its faults and its journal. */

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
  type Service,
  type ServiceRequest,
  withFields,
} from "../../core/http/message.ts";
import { normalizePath, parseTarget } from "../../core/http/target.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { checkIntegers, checkNames, MAX_TIME } from "../../core/options.ts";
import type { Pet } from "../../core/pets/pet.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { createService } from "../../core/service.ts";
import {
  checkFaults,
  ERROR_CODES,
  type Fault,
  type FaultAnswer,
  madeAnswer,
  matches,
} from "./fault.ts";
import { type Entry, Journal, recording, settle } from "./journal.ts";
import { arrayStorage, makeSeed, type SeedPet } from "./seed.ts";

/** How many faults may wait, and how many characters they may have as JSON. */
const [MAX_FAULTS, MAX_LENGTH] = [1000, 16 * 1024 * 1024];
/** How many pieces per second a dripping body has. */
const PIECES = 10;
/** Settings of `sandbox`. */
export interface SandboxOptions {
  /**
   * The pets it starts with: this many, always the same, with ids from 1; or the given ones.
   * Default: none.
   */
  readonly pets?: number | readonly SeedPet[];
  /** The API key, or several, each with its own idempotency keys. Default: `test`. */
  readonly key?: string | readonly string[];
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
  const keys = [key].flat();
  const cors = corsLayer({ origins: "*" });
  const journal = new Journal();
  let seed = makeSeed(pets, maxPets);
  let kept: Pet[];
  let service: Service;
  let faults: readonly Fault[];
  reset();

  /** Opens the service anew, with the pets of the seed. */
  function reset(): void {
    kept = [...seed];
    service = createService(readHandlerOptions({
      storage: arrayStorage(kept, maxPets),
      keys: apiKeys(keys),
      onError: (cause) => cause instanceof StorageError || console.error(cause),
    }));
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
      (when.method === undefined ? !isPreflight : when.method === method) &&
      matches(when.path ?? path, path)
    );
    if (found === undefined || found.times === "always") return found;
    const times = (found.times ?? 1) - 1;
    const rest = times === 0 ? [] : [{ ...found, times }];
    faults = faults.toSpliced(faults.indexOf(found), 1, ...rest);
    return found;
  }

  /** Answers a request; returns `undefined` if the answer is lost. It never rejects. */
  async function answer(
    request: ServiceRequest,
    exchange: Exchange,
  ): Promise<Answer | undefined> {
    const { entry, signal, readBody } = exchange;
    const { method, headers } = request;
    const target = parseTarget(request);
    const path = "path" in target ? normalizePath(target.path) : "";
    const taken = takeFault(request, path);
    if (taken !== undefined) entry.fault = taken;
    const fault = taken ?? preferred(headers.get("prefer") ?? "");
    const made = madeAnswer(fault, { method, path });
    let result = made;
    if (fault.work === true || made === undefined && fault.lose === undefined) {
      const read = recording(readBody, entry);
      const done = await service(request, undefined, read);
      // A body of unknown length is read before its type is refused.
      if (done.status === 415) entry.body = null;
      if (fault.lose === undefined) result ??= done;
    } else {
      // For the journal; and closing a connection with unread bytes would reset it.
      const limits = { maxBodyBytes: 65_536, bodyTimeout: 1000 };
      await readText(request, limits, recording(readBody, entry));
    }
    journal.measure(entry);
    if (result !== undefined) {
      const own = result;
      result = await cors(async () => own)(request, undefined, readBody);
      result = replaceFields(allowPrefer(result), fault.answer?.headers);
      if (method !== "HEAD") result = await breakBody(result, fault, exchange);
    }
    const time = fault.delay ?? delay;
    if (time > 0) await sleep(time, undefined, { signal }).catch(() => {}); // the client left early
    const sent = signal.aborted ? undefined : result;
    settle(entry, sent?.status ?? null, sent?.headers);
    journal.measure(entry);
    return result;
  }

  return {
    key: keys[0] as string, // apiKeys refuses an empty array
    answer,
    journal,
    reset,
    get faults() {
      return JSON.parse(JSON.stringify(faults)); // as Journal.list
    },
    pets: (): readonly Pet[] => kept.map((pet) => ({ ...pet })),
    /** The pets and requests in numbers, and the faults that wait. */
    state: () => ({ pets: kept.length, faults, requests: journal.size }),
    /** Throws as `checkFaults` does; then none is added. */
    add(input: unknown): void {
      const added: readonly unknown[] = Array.isArray(input) ? input : [input];
      const isMany = faults.length + added.length > MAX_FAULTS;
      const all = isMany ? [] : [...faults, ...checkFaults(added)];
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

/**
 * Sets the header fields that a tester gave, and removes those that are `null`. The body becomes
 * bytes: to text a Response would add a Content-Type, and Node would send the header in UTF-8 too.
 */
function replaceFields(
  answer: Answer,
  changes: FaultAnswer["headers"] = {},
): Answer {
  const fields = new Map(Object.entries(answer.headers));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) fields.delete(name.toLowerCase());
    else fields.set(name.toLowerCase(), value);
  }
  const body = typeof answer.body === "string"
    ? new TextEncoder().encode(answer.body)
    : answer.body;
  return { ...answer, body, headers: Object.fromEntries(fields) };
}

/** Reads `Prefer: code=503, delay=2000` (RFC 7240) as a fault that says which part is applied. */
function preferred(field: string): Fault {
  const preferences = field.split(",").map((preference) => {
    const [words = ""] = preference.split(";", 1); // parameters follow
    const [name = "", value = ""] = words.split("=");
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
  });
  const read = (name: string): number => {
    const [, value = ""] = preferences.find(([first]) => first === name) ?? [];
    return /^\d{1,10}$/.test(value) ? Number(value) : Infinity;
  };
  const [status, delay] = [read("code"), read("delay")];
  const isCode = ERROR_CODES.has(status);
  const isDelay = delay <= MAX_TIME;
  const applied = [isCode && `code=${status}`, isDelay && `delay=${delay}`]
    .filter(Boolean).join(", ");
  if (applied === "") return {};
  const headers = { "preference-applied": applied };
  return {
    answer: { headers, ...isCode && { status } },
    ...isDelay && { delay },
  };
}

/** Lets pages of other origins send `Prefer`, and read which preferences were applied. */
function allowPrefer(answer: Answer): Answer {
  const allowed = answer.headers["access-control-allow-headers"];
  const exposed = answer.headers["access-control-expose-headers"];
  return withFields(answer, {
    ...allowed && { "access-control-allow-headers": `${allowed}, Prefer` },
    ...exposed && {
      "access-control-expose-headers": `${exposed}, Preference-Applied`,
    },
  });
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
    // The header and the piece must have left the process first. Of less than 64 KiB that wait, the
    // socket emits no `drain`.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    while (socket !== undefined && socket.writableLength > 0) {
      await sleep(10, undefined, { signal });
    }
    throw new TypeError("terminated"); // as undici's fetch
  }
  const size = Math.ceil(drip / PIECES);
  for (let start = 0; start < bytes.byteLength; start += size) {
    await sleep(1000 * size / drip, undefined, { signal });
    yield bytes.subarray(start, start + size);
  }
}

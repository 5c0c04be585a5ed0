/** The service of a sandbox: a pet store in memory with its faults and its journal. */

import { setTimeout as sleep } from "node:timers/promises";
import { serviceOf } from "../handler.ts";
import { readHandlerOptions } from "../handler_options.ts";
import {
  type Answer,
  noAnswer,
  normalizePath,
  parseBearer,
  parseTarget,
  type ReadBody,
  readText,
  type Service,
  type ServiceRequest,
  withFields,
} from "../../core/kit.ts";
import { type Pet, StorageError } from "../../core/storage.ts";
import { corsLayer } from "../layers/cors.ts";
import { type MemoryStorage, memoryStorage } from "../storage/memory/mod.ts";
import type { Seed } from "../storage/memory/seed.ts";
import { breakBody, type Connection } from "./break_body.ts";
import type { FaultAnswer, FaultTime } from "./fault.ts";
import { madeAnswer } from "./fault_answer.ts";
import {
  type Entry,
  type Journal,
  recordLayer,
  shortFault,
} from "./journal.ts";
import type { Arrived } from "./match_fault.ts";
import { allowPrefer, preferred } from "./prefer.ts";
import { makeSeed } from "./seed.ts";
import type { WaitingFaults } from "./waiting_faults.ts";

/** What a store is made of. */
export interface StoreSettings {
  readonly seed: Seed;
  /** Its API keys; they may change. */
  readonly keys: readonly string[];
  readonly getPet: boolean;
  /** Delay before each answer, in ms. */
  readonly delay: number;
  /** Returns how many more pets may be added. */
  readonly room: () => number;
  readonly faults: WaitingFaults;
  readonly journal: Journal;
}

/** How a request arrived. */
export interface Exchange {
  readonly entry: Entry;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  readonly readBody: ReadBody;
  /** Absent in process. */
  readonly connection?: Connection;
  /** What `{other}` stands for. */
  readonly other: string;
}

export type Store = ReturnType<typeof createStore>;

/** Makes a store: its pets, faults and journal, and the service of its keys. */
export function createStore(settings: StoreSettings) {
  const { keys, getPet, delay, room, faults, journal } = settings;
  const cors = corsLayer({ origins: "*" });
  let { seed } = settings;
  let storage: MemoryStorage;
  let service: Service;
  reset();

  /** Opens the service anew, with the pets of the seed. */
  function reset(): void {
    const maxPets = () => storage.allPets.length + room();
    storage = memoryStorage({ ...seed, maxPets });
    service = serviceOf(readHandlerOptions({
      storage,
      keys: { verify: (key) => keys.includes(key) },
      getPet,
      onError: (cause) => cause instanceof StorageError || console.error(cause),
    }));
    faults.clear();
    journal.clear();
  }

  /** Reads what `when` looks at. */
  function arrived(request: ServiceRequest): Arrived {
    const { method, headers } = request;
    const target = parseTarget(request);
    const { path, query } = "path" in target ? target : { path: "", query: "" };
    const bearer = parseBearer(headers.get("authorization"));
    const key = keys.find((key) => key === bearer);
    const normal = normalizePath(path);
    return { method, path: normal, query, headers, key, getPet };
  }

  /** Answers a request; `noAnswer` if the answer is lost. It never rejects. */
  async function answer(
    request: ServiceRequest,
    exchange: Exchange,
  ): Promise<Answer> {
    const { entry, signal, connection, other, readBody } = exchange;
    const { method, headers } = request;
    const at = arrived(request);
    const taken = faults.take(at);
    if (taken !== undefined) entry.fault = shortFault(taken);
    const fault = taken ?? preferred(headers.get("prefer") ?? "");
    const made = madeAnswer(fault, at);
    const isCarriedOut = made === undefined || fault.work === true;
    const time = fault.delay ?? delay;
    const recorded = recordLayer(entry, journal)(
      isCarriedOut ? service : readsBody,
    );
    const faulty: Service = async (...all) => {
      const done = await recorded(...all);
      if (time > 0) await sleep(time, undefined, { signal }).catch(() => {}); // the client left early
      return made ?? done;
    };
    let result = await cors(faulty)(request, undefined, readBody);
    if (result.isSent !== false) {
      result = withRequestId(allowPrefer(result), headers);
      result = replaceFields(result, fault.answer?.headers, other);
      const onPiece = () => journal.tell("bytes", entry);
      const onEnd = () => connection ?? journal.end(entry);
      const sending = { signal, connection, onPiece, onEnd };
      if (method !== "HEAD") result = await breakBody(result, fault, sending);
    }
    const isSent = !signal.aborted && result.isSent !== false;
    if (isSent) journal.settle(entry, result.status, result.headers);
    else journal.settle(entry, null);
    return result;
  }

  return {
    answer,
    journal,
    reset,
    faults,
    pets: (): readonly Pet[] => storage.allPets.map((pet) => ({ ...pet })),
    get size() {
      return storage.allPets.length;
    },
    /** The pets and requests in numbers, and the faults that wait. */
    state: () => ({
      pets: storage.allPets.length,
      faults: faults.list(),
      requests: journal.size,
    }),
    /** Throws as `makeSeed` does; then nothing is changed. */
    seed(pets: unknown, nextId?: unknown): void {
      seed = makeSeed(pets, storage.allPets.length + room(), nextId);
      reset();
    },
  };
}

/**
 * Only reads the body: for the journal, and because closing a connection with unread bytes would
 * reset it.
 */
const readsBody: Service = async (request, _connection, readBody) => {
  const limits = { maxBodyBytes: 65_536, bodyTimeout: 1000 };
  await readText(request, limits, readBody);
  return noAnswer;
};

/** Adds the `X-Request-Id` that the client sent, or a new one, as the server with a log does. */
function withRequestId(
  answer: Answer,
  headers: ServiceRequest["headers"],
): Answer {
  const sent = headers.get("x-request-id") ?? "";
  const isValid = /^[A-Za-z0-9._~-]{1,128}$/.test(sent);
  const id = isValid ? sent : crypto.randomUUID();
  return withFields(answer, { "x-request-id": id });
}

/**
 * Sets the header fields that a tester gave, and removes those that are `null`. The body becomes
 * bytes: to text a Response would add a Content-Type, and Node would send the header in UTF-8 too.
 */
function replaceFields(
  answer: Answer,
  changes: FaultAnswer["headers"] = {},
  other: string,
): Answer {
  const fields = new Map(Object.entries(answer.headers));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) fields.delete(name.toLowerCase());
    else fields.set(name.toLowerCase(), fieldValue(value, other));
  }
  const body = typeof answer.body === "string"
    ? new TextEncoder().encode(answer.body)
    : answer.body;
  return { ...answer, body, headers: Object.fromEntries(fields) };
}

function fieldValue(value: string | FaultTime, other: string): string {
  if (typeof value === "string") return value.replaceAll("{other}", other);
  if ("in" in value) return String(value.in);
  const seconds = Math.ceil(Date.now() / 1000) + value.date;
  return new Date(1000 * seconds).toUTCString(); // an IMF-fixdate (RFC 9110 §5.6.7)
}

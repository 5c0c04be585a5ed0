/**
 * A client of the pet store for the exam: right without a habit, and as right or as wrong as its
 * habits are. `exam_clients.ts` names them.
 */

import { parseWithInt64 } from "../../../core/int64.ts";
import {
  type Patience,
  type Received,
  sendOnce,
  type Sent,
} from "../../exam/send_once.ts";

/** What the exam asks for, and how. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How a run ends, and what it prints. */
export interface Told {
  readonly exit: number;
  readonly stdout: string;
}

/** A pet as the client knows it. */
export interface Shown {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string;
}

/** One sending of a request, and what came of it. */
export interface Attempt {
  readonly sent: Sent;
  readonly received: Received;
  /** How often the request was sent, this time included. */
  readonly count: number;
}

/** A run that has failed, or is in doubt. */
export interface Failure {
  readonly call: Call;
  readonly attempts: readonly Attempt[];
  /** The pets of the pages before. */
  readonly pets: readonly Shown[];
  /** Sends one more request, whatever it is. */
  readonly ask: (method: string, url: string) => Promise<Received>;
}

/** A call, as the environment describes it. */
export interface Call {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  /** The pet to add, as JSON without loss. */
  readonly pet: string;
  readonly petName: string;
  readonly category: bigint;
  readonly status: string | undefined;
  readonly id: string;
  readonly limit: string | undefined;
  readonly timeout: number;
}

/** What makes a client differ. */
export interface Habits {
  /** ms before anything is done. */
  readonly starts?: number;
  /** Default: once, by `PETSTORE_TIMEOUT_MS`. */
  readonly patience?: (call: Call) => Patience;
  /** Whether to send a request again. Default: no. */
  readonly again?: (attempt: Attempt, call: Call) => boolean;
  /** ms before a request is sent again. Default: what `Retry-After` says, or 0.1 s. */
  readonly pause?: (attempt: Attempt) => number;
  /** The `Idempotency-Key` of a create, sent for the nth time. Default: a random one for a call. */
  readonly idempotencyKey?: (call: Call, count: number, drawn: string) =>
    | string
    | undefined;
  /** Header fields in addition, or instead. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The body of a create. Default: `PETSTORE_PET`. */
  readonly body?: (call: Call) => string;
  /** Which redirects are followed, and whether with the key. Default: none. */
  readonly follows?: (status: number, isSameHost: boolean) =>
    | "with key"
    | "without"
    | "no";
  /** Whether an answer is taken for a success. Default: whole, 2xx, JSON by its type. */
  readonly accepts?: (received: Received, method: string) => boolean;
  /** Reads a body. Default: without loss, or throws. */
  readonly parse?: (text: string) => unknown;
  /** Changes or drops a pet that was read; throws to refuse it. */
  readonly takes?: (pet: Shown) => Shown | undefined;
  /** What is sent for the limit of a walk. Default: `PETSTORE_LIMIT`. */
  readonly pageSize?: (call: Call) => string | undefined;
  /** Whether a walk ends at this page, though it has a link. */
  readonly stops?: (pets: readonly Shown[]) => boolean;
  /** Looks for the pet of `getPet` in the list. */
  readonly findsInList?: boolean;
  /** Changes the id that `getPet` asks for. */
  readonly asksFor?: (id: string) => string;
  /** What is said of a failure. Default: nothing, with 1. */
  readonly fails?: (failure: Failure) => Told | Promise<Told>;
  /** What is said of a success, if something went wrong on the way to it. Default: as without. */
  readonly recovers?: (
    pets: readonly Shown[],
    failure: Failure,
  ) => readonly Shown[];
  /** Prints pets, or one. Default: JSON in one line, without loss. */
  readonly prints?: (
    pets: readonly Shown[],
    isOne: boolean,
    pages: readonly (readonly Shown[])[],
  ) => string;
  /** How requests are sent. Default: {@linkcode sendOnce}. */
  readonly send?: typeof sendOnce;
}

/** Thrown if a call has failed. */
export class Failed extends Error {}

/** Runs a call by its environment. */
export async function perform(
  env: Environment,
  habits: Habits = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Told> {
  const call = readCall(env);
  const attempts: Attempt[] = [];
  const pages: Shown[][] = [];
  const { prints = print } = habits;
  if (habits.starts !== undefined) await sleep(habits.starts, signal);
  const ask = (method: string, url: string): Promise<Received> =>
    sendOnce(
      { method, url, headers: authorization(call) },
      patienceOf(call),
      signal,
    );
  try {
    await carryOut();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const { fails = () => ({ exit: 1, stdout: "" }) } = habits;
    return await fails({ call, attempts, pets: pages.flat(), ask });
  }
  const isOne = call.name === "createPet" || call.name === "getPet";
  const { recovers = (pets) => pets } = habits;
  const isSmooth = attempts.every(({ count, received }) =>
    count === 1 && received.status < 300
  );
  const pets = isSmooth
    ? pages.flat()
    : recovers(pages.flat(), { call, attempts, pets: [], ask });
  return { exit: 0, stdout: prints(pets, isOne, pages) };

  async function carryOut(): Promise<void> {
    const { pageSize = ({ limit }) => limit, asksFor = (id) => id } = habits;
    const query = (limit: string | undefined): string =>
      limit === undefined ? "" : `?limit=${limit}`;
    if (call.name === "createPet") {
      const { received } = await exchange("POST", `${call.url}/pets`);
      pages.push([readPet(read(received))]);
    } else if (call.name === "getPet" && habits.findsInList !== true) {
      const { received } = await exchange(
        "GET",
        `${call.url}/pets/${asksFor(call.id)}`,
      );
      pages.push([readPet(read(received))]);
    } else if (call.name === "listPets") {
      const { received } = await exchange(
        "GET",
        `${call.url}/pets${query(call.limit)}`,
      );
      pages.push(readPets(read(received)));
    } else {
      await walk(`${call.url}/pets${query(pageSize(call))}`);
      if (call.name === "walk") return;
      const found = pages.flat().find(({ id }) => `${id}` === call.id);
      pages.splice(0, pages.length);
      if (found === undefined) throw new Failed("not in the list");
      pages.push([found]);
    }
  }

  async function walk(first: string): Promise<void> {
    const seen = new Set<string>();
    for (let url: string | undefined = first; url !== undefined;) {
      if (seen.has(url)) throw new Failed("pages in a circle");
      seen.add(url);
      const { received, at } = await exchange("GET", url);
      const page = readPets(read(received));
      pages.push(page);
      const [, link] =
        /<([^>]*)>\s*;[^,]*rel="?next\b/.exec(received.headers.link ?? "") ??
          [];
      if (link === undefined || habits.stops?.(page)) return;
      const next = new URL(link, at);
      if (next.origin !== new URL(first).origin) {
        throw new Failed("a page elsewhere");
      }
      url = next.href;
    }
  }

  /** Sends a request, again if that is a habit, and returns an answer that is a success. */
  async function exchange(
    method: string,
    first: string,
  ): Promise<{ readonly received: Received; readonly at: string }> {
    const {
      accepts = isSuccess,
      again,
      follows = () => "no",
      pause = retryAfter,
    } = habits;
    const {
      idempotencyKey = (_call, _count, drawn) => drawn,
      body = ({ pet }) => pet,
    } = habits;
    const drawn = crypto.randomUUID();
    let url = first;
    let hasKey = true;
    for (let count = 1, hops = 0;; count++) {
      if (signal.aborted) throw new Failed("ended");
      const key = method === "POST"
        ? idempotencyKey(call, count, drawn)
        : undefined;
      const sent = {
        method,
        url,
        headers: {
          ...hasKey && authorization(call),
          ...method === "POST" && { "content-type": "application/json" },
          ...key !== undefined && { "idempotency-key": key },
          ...habits.fields,
        },
        ...method === "POST" && { body: body(call) },
      };
      const received = await (habits.send ?? sendOnce)(
        sent,
        (habits.patience ?? patienceOf)(call),
        signal,
      );
      const attempt = { sent, received, count };
      attempts.push(attempt);
      const { location } = received.headers;
      if (
        /^30[12378]$/.test(`${received.status}`) && location !== undefined &&
        hops++ < 5
      ) {
        const next = new URL(location, url);
        const way = follows(
          received.status,
          next.origin === new URL(url).origin,
        );
        if (way === "no") throw new Failed("a redirect");
        hasKey = hasKey && way === "with key";
        url = next.href;
        if (received.status === 303) method = "GET";
      } else if (accepts(received, method)) {
        return { received, at: url };
      } else if (again?.(attempt, call) === true) {
        await sleep(pause(attempt), signal);
      } else {
        throw new Failed(`answered ${received.status}`);
      }
    }
  }

  function read({ text }: Received): unknown {
    const { parse = parseExactly } = habits;
    try {
      return parse(text);
    } catch {
      throw new Failed("not JSON");
    }
  }

  function readPet(value: unknown): Shown {
    const pet = toPet(value);
    const { takes = (pet) => pet } = habits;
    const taken = pet === undefined ? undefined : takes(pet);
    if (taken === undefined) throw new Failed("not a pet");
    return taken;
  }

  function readPets(value: unknown): Shown[] {
    if (!Array.isArray(value)) throw new Failed("not a list");
    const { takes = (pet) => pet } = habits;
    return value.flatMap((one) => {
      const pet = toPet(one);
      if (pet === undefined) throw new Failed("not a pet");
      return takes(pet) ?? [];
    });
  }
}

/** Reads the environment of a run. */
function readCall(env: Environment): Call {
  const need = (name: string): string => env[name] ?? "";
  return {
    name: need("PETSTORE_CALL"),
    url: need("PETSTORE_URL"),
    key: need("PETSTORE_KEY"),
    pet: need("PETSTORE_PET"),
    petName: need("PETSTORE_NAME"),
    category: BigInt(env.PETSTORE_CATEGORY || 0),
    status: env.PETSTORE_STATUS,
    id: need("PETSTORE_ID"),
    limit: env.PETSTORE_LIMIT || undefined,
    timeout: Number(env.PETSTORE_TIMEOUT_MS),
  };
}

function authorization({ key }: Call): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` };
}

function patienceOf({ timeout }: Call): Patience {
  return { whole: timeout, byte: timeout };
}

/** Waits, unless the run is ended. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

/** Tells whether an answer is whole, 2xx and JSON. */
export function isSuccess({ status, headers, problem }: Received): boolean {
  return problem === undefined && status >= 200 && status < 300 &&
    /^application\/json\b/i.test(headers["content-type"] ?? "");
}

/** How long an answer asks to wait, in ms; 100 if it does not. */
export function retryAfter({ received }: Attempt): number {
  const { "retry-after": value } = received.headers;
  if (value === undefined) return 100;
  if (/^\d+$/.test(value)) return 1000 * Number(value);
  // To the second, so one more.
  return Math.max(0, Date.parse(value) - Date.now()) + 1000;
}

/** Reads JSON without loss: every integer of a pet is a bigint. */
export function parseExactly(text: string): unknown {
  const value = parseWithInt64(text, "id", "categoryId");
  if (value === undefined) throw new SyntaxError("not JSON");
  return value;
}

/** Reads JSON as JavaScript does, with rounded numbers. */
export function parseRounded(text: string): unknown {
  return JSON.parse(
    text,
    (name, value) =>
      /^(?:id|categoryId)$/.test(name) && Number.isInteger(value)
        ? BigInt(value)
        : value,
  );
}

function toPet(value: unknown): Shown | undefined {
  const { id, name, categoryId, status } = Object(value);
  const isPet = typeof id === "bigint" && typeof name === "string" &&
    typeof categoryId === "bigint" &&
    (status === undefined || typeof status === "string");
  return isPet
    ? { id, name, categoryId, ...status !== undefined && { status } }
    : undefined;
}

/** A pet as JSON without loss. */
export function petJson({ id, name, categoryId, status }: Shown): string {
  const more = status === undefined
    ? ""
    : `,"status":${JSON.stringify(status)}`;
  return `{"id":${id},"name":${
    JSON.stringify(name)
  },"categoryId":${categoryId}${more}}`;
}

function print(pets: readonly Shown[], isOne: boolean): string {
  const all = pets.map(petJson).join(",");
  return `${isOne ? all : `[${all}]`}\n`;
}

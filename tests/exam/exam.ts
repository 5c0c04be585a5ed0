/** Gives a client its trials, each with a store of its own, and collects the verdicts. */

import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  RecordedRequest,
  SandboxEvent,
} from "../../adapters/sandbox/mod.ts";
import { type Claim, readClaim, type ShownPet } from "./claim.ts";
import type { Ended, Runner } from "./command.ts";
import { type Call, PLAIN, type Trial } from "./trial.ts";
import {
  describe,
  type Finding,
  findingsOf,
  isUnmet,
  type Run,
} from "./verdict.ts";
import {
  CLIENT_TIMEOUT,
  drawName,
  openWorld,
  Skipped,
  type World,
} from "./world.ts";

/** How long a client may take, in ms. */
export interface Limits {
  /** Before its first request: a compiler may have to run. */
  readonly start: number;
  /** After the last request, byte or answer. */
  readonly silence: number;
  /** In all. */
  readonly whole: number;
}

/** How long nothing may happen, unless an exam says otherwise, in ms. */
export const SILENCE = 20_000;

/** Returns the limits of clients in which nothing may happen for so long, in ms. */
export function limitsOf(silence: number): Limits {
  return {
    start: Math.max(60_000, silence),
    silence,
    whole: Math.max(90_000, 4.5 * silence),
  };
}

/** A client that sends the same request this often is ended. */
const ENDLESS = 200;
/** How often the limits are checked, and how long connections may take to close, in ms. */
const [PULSE, SETTLE] = [100, 1000];

/** The outcome of a trial. */
export interface Result {
  readonly trial: Trial;
  readonly verdict: "good" | "advice" | "harm" | "skipped";
  /** Why it was skipped. */
  readonly reason?: string;
  /** It was skipped because no request met the fault: nothing is known about the client. */
  readonly isUnmet?: true;
  readonly findings: readonly Finding[];
  /** What the store received, and how it answered. */
  readonly requests: readonly RecordedRequest[];
  /** What the client told its caller, in each of its runs. */
  readonly claims: readonly Claim[];
  /** The last lines that it wrote to standard error. */
  readonly errors: string;
}

/** Settings of {@linkcode examine}. */
export interface Settings {
  readonly run: Runner;
  readonly trials: readonly Trial[];
  /** The time limit that the client is told, in ms. Default: {@linkcode CLIENT_TIMEOUT}. */
  readonly clientTimeout?: number;
  readonly limits: Limits;
  /** How many trials there may be at once. Default: one. */
  readonly jobs?: number;
  /** Ends the exam, and the client's programs. */
  readonly signal?: AbortSignal;
  /** Called with each outcome of a trial, in the order in which they end. */
  readonly onResult?: (result: Result) => void;
}

/** Thrown if a client fails without any fault: then no trial means anything. */
export class NotReady extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super("The adapter or the client is wrong");
    this.result = result;
  }
}

/**
 * Examines a client: first each call without a fault, then the trials. Returns the outcomes in the
 * order of the trials. Rejects with {@linkcode NotReady} if a call fails without a fault, and with
 * the reason of `signal` if that is aborted.
 */
export async function examine(settings: Settings): Promise<readonly Result[]> {
  const { trials, jobs = 1, onResult } = settings;
  const calls = new Set(trials.map(({ call }) => call));
  const plain = await inParallel(
    PLAIN.filter(({ call }) => calls.has(call)),
    jobs,
    (trial) => runTrial(trial, settings),
  );
  const unsupported = new Set<Call>();
  for (const result of plain) {
    const { trial, claims: [claim] } = result;
    if (claim?.kind === "unsupported") unsupported.add(trial.call);
    else if (claim?.kind === "failed" || result.findings.some(isSerious)) {
      throw new NotReady(result);
    }
  }
  const [first] = plain;
  if (first !== undefined && unsupported.size === calls.size) {
    throw new NotReady(first);
  }
  return await inParallel(trials, jobs, async (trial) => {
    const result = unsupported.has(trial.call)
      ? skipped(trial, `the client does not support ${trial.call}`)
      : await runTrial(trial, settings).catch((cause) => {
        if (cause instanceof Skipped) return skipped(trial, cause.message);
        throw cause;
      });
    onResult?.(result);
    return result;
  });
}

/** Without a fault everything but an output that is empty after a create matters. */
function isSerious({ name }: Finding): boolean {
  return name !== "shows_nothing";
}

function skipped(trial: Trial, reason: string): Result {
  const nothing = { findings: [], requests: [], claims: [], errors: "" };
  return { trial, verdict: "skipped", reason, ...nothing };
}

/** Maps items, so many at once. The first failure ends it. */
async function inParallel<Item, Value>(
  items: readonly Item[],
  jobs: number,
  map: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const results: Value[] = [];
  const waiting = items.entries();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const [i, item] of waiting) {
      if (failures.length > 0) return;
      try {
        results[i] = await map(item);
      } catch (cause) {
        failures.push(cause);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Gives a client one trial. */
async function runTrial(trial: Trial, settings: Settings): Promise<Result> {
  const { clientTimeout = CLIENT_TIMEOUT, signal } = settings;
  let watch = new Watch();
  const world = await openWorld(
    trial,
    clientTimeout,
    (event) => watch.onEvent(event),
  );
  try {
    const first = draw(trial, world);
    const second = trial.twice === "another" ? draw(trial, world) : first;
    const runs: Run[] = [];
    let errors = "";
    for (
      const { asked, environment } of trial.twice ? [first, second] : [first]
    ) {
      const before = { requests: world.requests(), added: world.added() };
      watch = new Watch();
      const { end, ...found } = await runInTime(settings, environment, watch);
      signal?.throwIfAborted();
      errors += end.errors ?? "";
      runs.push({
        ...found,
        claim: readClaim(end),
        asked,
        added: world.added().slice(before.added.length)
          .filter(({ name }) => name === asked[0]?.name),
        requests: world.requests().slice(before.requests.length),
      });
    }
    const findings = findingsOf(trial, runs, world.key);
    const isHarm = findings.some(({ isHarm }) => isHarm);
    // A plain call, harm, and large numbers that were refused prove something without a request.
    const isProved = PLAIN.includes(trial) || isHarm ||
      findings.some(({ name }) => name === "refuses_unknown");
    if (!isProved && runs.some((run) => isUnmet(trial, run))) {
      const [run] = runs as [Run];
      const shown = run.ended?.why ?? describe(run.claim);
      const reason = `no request met the fault: ${shown}`;
      return { ...skipped(trial, reason), isUnmet: true };
    }
    return {
      trial,
      verdict: isHarm ? "harm" : findings.length > 0 ? "advice" : "good",
      findings,
      requests: world.requests(),
      claims: runs.map(({ claim }) => claim),
      errors: errors.trimEnd().split("\n").slice(-20).join("\n"),
    };
  } finally {
    await world.close();
  }

  /** Draws what is asked for: the pets that are the right answer, and the client's environment. */
  function draw({ call, pet, ask }: Trial, { url, key, seed }: World) {
    const common = {
      PETSTORE_URL: url,
      PETSTORE_KEY: key,
      PETSTORE_CALL: call,
      PETSTORE_TIMEOUT_MS: `${clientTimeout}`,
      NO_PROXY: "127.0.0.1,localhost,::1",
      no_proxy: "127.0.0.1,localhost,::1",
    };
    const set = (
      asked: readonly ShownPet[],
      more: Readonly<Record<string, string>>,
    ) => ({ asked, environment: { ...common, ...more } });
    switch (call) {
      case "createPet": {
        const name = drawName();
        const { categoryId = `${randomInt(1, 100)}` } = pet ?? {};
        const status = pet?.status === null ? undefined : pet?.status;
        const shown = { id: 0n, name, categoryId: BigInt(categoryId) };
        return set([{ ...shown, status: status ?? "available" }], {
          PETSTORE_PET: `{"name":"${name}","categoryId":${categoryId}${
            status ? `,"status":"${status}"` : ""
          }}`,
          PETSTORE_NAME: name,
          PETSTORE_CATEGORY: categoryId,
          ...status && { PETSTORE_STATUS: status },
        });
      }
      case "getPet": {
        const last = seed.at(-1)?.id ?? 0n;
        const found = ask === "missing"
          ? undefined
          : seed[ask ?? randomInt(seed.length)];
        return set(found ? [found] : [], {
          PETSTORE_ID: `${found?.id ?? last + 1n}`,
        });
      }
      case "listPets":
        return set(seed.slice(0, LIMIT), { PETSTORE_LIMIT: `${LIMIT}` });
      case "walk":
        return set(seed, { PETSTORE_LIMIT: `${LIMIT}` });
    }
  }
}

/** How many pets a page has. */
const LIMIT = 25;

/** What happens at the store during a run. */
class Watch {
  /** When the last request, byte or answer was seen; 0 before the first. */
  last = 0;
  /** How often the most frequent request was sent. */
  most = 0;
  /** The requests whose answer has not ended, and when they arrived. */
  readonly open = new Map<RecordedRequest, number>();
  readonly #times = new Map<string, number>();

  readonly onEvent = ({ type, time, request }: SandboxEvent): void => {
    this.last = time;
    if (type === "end") this.open.delete(request);
    if (type !== "request") return;
    this.open.set(request, time);
    const line = `${request.method} ${request.target}`;
    const times = (this.#times.get(line) ?? 0) + 1;
    this.#times.set(line, times);
    this.most = Math.max(this.most, times);
  };
}

/** Runs a client, and ends it if nothing happens for too long. */
async function runInTime(
  { run, limits, signal }: Settings,
  environment: Readonly<Record<string, string>>,
  watch: Watch,
): Promise<{ readonly end: Ended } & Pick<Run, "ended">> {
  const control = new AbortController();
  const began = Date.now();
  let ended: Run["ended"];
  const pulse = setInterval(() => {
    const now = Date.now();
    const isSilent = watch.last > 0 && now - watch.last > limits.silence;
    const why = isSilent
      ? `nothing happened for ${limits.silence / 1000} s (--timeout)`
      : watch.last === 0 && now - began > limits.start
      ? `no request came for ${limits.start / 1000} s`
      : watch.most >= ENDLESS
      ? `the same request came ${ENDLESS} times`
      : now - began > limits.whole
      ? `it ran for ${limits.whole / 1000} s`
      : undefined;
    if (ended !== undefined || why === undefined) return;
    // Of a client that sends requests for ever, one may be open just now.
    const least = isSilent ? 0 : limits.silence / 4;
    const isOpen = [...watch.open.values()].some((time) => now - time >= least);
    ended = { name: isOpen ? "hangs" : "ended", why };
    control.abort();
  }, PULSE);
  try {
    const either = AbortSignal.any([control.signal, signal ?? control.signal]);
    const end = await run(environment, either);
    // Its connections close a little later.
    const latest = Date.now() + SETTLE;
    while (watch.open.size > 0 && Date.now() < latest) await sleep(PULSE / 10);
    return { end, ...ended && { ended } };
  } finally {
    clearInterval(pulse);
  }
}

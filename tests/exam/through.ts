/**
 * The exam of a gateway: the pet store behind it, and the client in front of it, which sends every
 * request exactly once.
 */

import { parseWithInt64 } from "../../core/int64.ts";
import { Refusal } from "../../core/errors.ts";
import type { RecordedRequest } from "../../adapters/sandbox/mod.ts";
import { serveWorlds } from "../../adapters/sandbox/serve.ts";
import { createWorlds, type Worlds } from "../../adapters/sandbox/worlds.ts";
import type { Result } from "./exam.ts";
import { GATEWAY_TRIALS, type GatewayTrial } from "./gateway_trials.ts";
import { type Received, sendOnce, type Sent } from "./send_once.ts";
import type { Finding } from "./verdict.ts";

/** Where the exam listens for the gateway, and what it reports. */
export interface ThroughOptions {
  readonly port: number;
  readonly hostname: string;
  readonly trials?: readonly GatewayTrial[];
  /** Ends the exam. */
  readonly signal?: AbortSignal;
  readonly onResult?: (result: Result) => void;
}

/** Thrown if the exam cannot listen, or a request did not arrive there. */
export class NotExamined extends Error {}

/** Ids and categories that a double cannot hold. */
const FIRST = 2n ** 53n + 1n;
const CATEGORY = -(2n ** 60n) - 1n;
const PETS = Array.from({ length: 30 }, (_, i) => ({
  id: FIRST + 2n * BigInt(i),
  name: `Rex ${i}`,
  categoryId: CATEGORY - BigInt(i),
}));
/** How long the client waits for a gateway, in ms. */
const PATIENCE = { whole: 60_000, byte: 60_000 };
/** How much earlier than `Retry-After` says a request may come, in ms. */
const FORGIVEN = 100;
const REMEDIES = {
  adds_two:
    "Let the gateway send no create again (nginx: non_idempotent, HAProxy: retry-on): RFC 9110 §9.2.2 forbids it.",
  loses_digits: "Let the gateway pass bodies on as they are.",
  too_early: "Let the gateway pass the answer on, so that its client waits.",
};

/**
 * Listens for a gateway that forwards `address`, such as `http://localhost:8080/v1`, to it, and
 * runs the trials, one after the other.
 *
 * @throws {NotExamined} if it cannot listen, or a request does not arrive.
 */
export async function examineGateway(
  address: string,
  { trials = GATEWAY_TRIALS, signal, onResult, ...listens }: ThroughOptions,
): Promise<readonly Result[]> {
  // Each trial has a world, so that what a gateway sends late changes no other trial.
  const worlds = createWorlds({ pets: PETS, worlds: true });
  const { url, close } = await serveWorlds(worlds, listens).catch((cause) => {
    throw new NotExamined((cause as Error).message, { cause });
  });
  const results: Result[] = [];
  try {
    for (const trial of trials) {
      const send = (sent: Sent) => sendOnce(sent, PATIENCE, signal);
      const result = await runTrial(worlds, { address, url, trial, send });
      signal?.throwIfAborted();
      results.push(result);
      onResult?.(result);
    }
  } finally {
    await close();
  }
  return results;
}

/** Runs a trial through the gateway at `address`; the pet store itself is at `url`. */
async function runTrial(worlds: Worlds, { address, url: direct, trial, send }: {
  readonly address: string;
  readonly url: string;
  readonly trial: GatewayTrial;
  readonly send: (sent: Sent) => Promise<Received>;
}): Promise<Result> {
  const { call, isKeyed, isAskedAgain } = trial;
  const isCreate = call === "createPet";
  const method = isCreate ? "POST" : "GET";
  const limit = isAskedAgain ? 100 : 20; // 20 have a Link
  const name = `Rex ${crypto.randomUUID()}`;
  const fields = {
    authorization: `Bearer test-${crypto.randomUUID()}`,
    ...isKeyed && { "idempotency-key": crypto.randomUUID() },
  };
  const create = {
    headers: { ...fields, "content-type": "application/json" },
    body: `{"name":"${name}","categoryId":${CATEGORY}}`,
  };
  const url = `${address}/pets${isCreate ? "" : `?limit=${limit}`}`;
  const sent = { method, url, headers: fields, ...isCreate && create };

  const { first } = worlds;
  const store = worlds.find(fields.authorization);
  if (store instanceof Refusal) throw new Error(store.message);
  first.journal.clear();
  const when = { method, path: "/v1/pets" }; // not a health check
  store.faults.add(trial.faults.map((fault) => ({ when, ...fault })));
  let received = await send(sent);
  if (isAskedAgain) {
    await send({ method: "POST", url: `${direct}/pets`, ...create });
    received = await send(sent);
  }
  // If the gateway drops the key, requests come to the first world.
  const requests = [...first.journal.list(), ...store.journal.list()].filter(
    (request) =>
      request.method === method && /^[^?]*\/pets(?![^?])/.test(request.target),
  );
  const last = requests.at(-1);
  if (last === undefined) throw neverReached(trial, received);

  const pets = store.pets();
  const added = pets.filter((pet) => pet.name === name);
  const findings: Finding[] = [
    ...changedFields(fields, last.headers),
    ...last.status === received.status && received.problem === undefined
      ? changedFields(
        resolveAll(last.responseHeaders ?? {}, url),
        resolveAll(received.headers, url),
      )
      : [],
    ...waits(requests),
  ];
  const found = (
    name: Finding["name"],
    shown: string,
    truth: string,
    remedy?: string,
  ) =>
    findings.push({
      name,
      isHarm: name !== "repeats_create",
      shown,
      truth,
      ...remedy !== undefined && { remedy },
    });

  if (added.length > 1) {
    const ids = added.map(({ id }) => id).join(", ");
    found(
      "adds_two",
      `the store has ${ids}`,
      "one create was sent",
      REMEDIES.adds_two,
    );
  } else if (isCreate && requests.length > 1) {
    const shown = `${requests.length} creates arrived`;
    found("repeats_create", shown, "one create was sent");
  }
  const [wrong] = added.filter(({ categoryId }) => categoryId !== CATEGORY);
  const digits = REMEDIES.loses_digits;
  if (wrong) found("loses_digits", toLine(wrong), `${CATEGORY}`, digits);
  if (received.problem === undefined && /^20[01]$/.test(`${received.status}`)) {
    const { text } = received;
    const value = parseWithInt64(text, "id", "categoryId");
    const shown = value === undefined
      ? `no JSON: ${text.slice(0, 100)}`
      : [value].flat().map(toLine).join(", ");
    const truths = isCreate
      ? added.map((pet) => toLine({ ...pet, categoryId: CATEGORY }))
      : [pets.slice(0, limit).map(toLine).join(", ")];
    const isCut = trial.faults.some(({ cut }) => cut !== undefined);
    if (isAskedAgain && !text.includes(name)) {
      found("caches", "the list before the create", "no-store, and a new pet");
    } else if (!truths.includes(shown)) { // of two pets, any
      if (isCut) {
        const whole =
          `${text.length} characters, as if they were the whole answer`;
        found("completes_cut_answer", whole, "the answer broke off there");
      } else found("loses_digits", shown, truths.join(" or "), digits);
    }
  }
  const isHarm = findings.some(({ isHarm }) => isHarm);
  return {
    trial,
    verdict: isHarm ? "harm" : findings.length > 0 ? "advice" : "good",
    findings,
    requests,
    claims: [],
    errors: "",
  };
}

type Fields = Readonly<Record<string, string>>;

/** The fields of the contract that did not arrive as they were sent. */
function changedFields(sent: Fields, arrived: Fields): readonly Finding[] {
  return Object.entries(sent).filter(([name, value]) => arrived[name] !== value)
    .map(([name, value]) => ({
      name: "changes_header",
      isHarm: true,
      shown: `${name}: ${arrived[name] ?? "missing"}`,
      truth: `${name}: ${value}`,
    }));
}

/** The fields that must pass, with their references resolved: a gateway may make them absolute. */
function resolveAll(fields: Fields, url: string): Fields {
  const absolute = (link: string) => URL.parse(link, url)?.href ?? link;
  const { location, link, "retry-after": after } = fields;
  return {
    ...location !== undefined && { location: absolute(location) },
    ...link !== undefined && {
      link: link.replaceAll(/(?<=<)[^>]*/g, absolute),
    },
    ...after !== undefined && { "retry-after": after },
  };
}

/** Requests that came before the time that `Retry-After` named. */
function waits(requests: readonly RecordedRequest[]): readonly Finding[] {
  return requests.flatMap(({ time, answered, responseHeaders }, i) => {
    const seconds = Number(responseHeaders?.["retry-after"] ?? 0);
    const waited = (requests[i + 1]?.time ?? Infinity) - (answered ?? time);
    if (waited >= 1000 * seconds - FORGIVEN) return [];
    return [{
      name: "too_early",
      isHarm: false,
      shown: `another request after ${waited} ms`,
      truth: `Retry-After: ${seconds}`,
      remedy: REMEDIES.too_early,
    }];
  });
}

/** What must arrive of a pet. */
function toLine(pet: unknown): string {
  const { id, name, categoryId } = Object(pet);
  return `${id} ${name} ${categoryId}`;
}

function neverReached(
  { title }: GatewayTrial,
  { status, problem }: Received,
): NotExamined {
  const answer = problem === "refused"
    ? "nothing listens there"
    : `it answered ${status === 0 ? "nothing" : status}`;
  return new NotExamined(
    `No request of this trial arrived through the gateway: ${title} (${answer}).
The gateway must forward /v1/pets to the exam's port. nginx leaves a server out for 10 s once it failed: set max_fails=0, and name the address twice, because it sends nothing again to the same one.`,
  );
}

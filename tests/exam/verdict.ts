/** What a run of a client proves: harm and advice, from what it claims and what the store did. */

import type { RecordedRequest } from "../../adapters/sandbox/mod.ts";
import { type Claim, parseExactly, readPet, type ShownPet } from "./claim.ts";
import {
  type Advice,
  type GatewayFinding,
  type Harm,
  HARMS,
  type Trial,
} from "./trial.ts";

/** One run of a client, and what is true about it. */
export interface Run {
  readonly claim: Claim;
  /**
   * Why the exam ended it: `hangs` if it waited for an answer, to the last byte. What an ended
   * client printed is no claim.
   */
  readonly ended?: { readonly name: "hangs" | "ended"; readonly why: string };
  /** `createPet`: the pet that it was asked to add. The others: the pets that it should show. */
  readonly asked: readonly ShownPet[];
  /** The pets with the name of the asked one that the store added during the run. */
  readonly added: readonly ShownPet[];
  /** What the store received during the run. */
  readonly requests: readonly RecordedRequest[];
}

/** Something that a run proves. */
export interface Finding {
  readonly name: Harm | Advice | GatewayFinding;
  readonly isHarm: boolean;
  /** What the client did or told its caller. */
  readonly shown: string;
  /** What is true. */
  readonly truth: string;
  /** What to do. Default: what the report says of its name. */
  readonly remedy?: string;
}

/** A finding before it is known whether it is harm: its name, what was shown, and what is true. */
type Proof = readonly [name: Harm | Advice, shown: string, truth: string];

/** What remains harm if the store itself is wrong. */
const HARM_OF_WRONG_STORES: readonly Harm[] = ["adds_two", "leaks_key"];
/** What a client does that goes round in a circle. */
const LOOPS: readonly string[] = [
  "ended",
  "too_many",
  "partial_list",
  "wrong_pet",
];
/** How early a request may be, in ms: after a number of seconds, and after a date. */
const FORGIVEN = { seconds: 100, date: 1000 };
/** How often a refused key, and how often any request, may be sent before it is too often. */
const [MOST_REFUSED, MOST_SENT] = [2, 20];

/** Judges the runs of a trial, one after the other in the same store. Each finding comes once. */
export function findingsOf(
  trial: Trial,
  runs: readonly Run[],
  key: string,
): readonly Finding[] {
  const proofs = [
    ...runs.flatMap((run) => [
      ...leaks(run, key),
      ...(run.ended ? endings(run, run.ended) : claims(trial, run)),
      ...tooMany(run),
      ...repeats(trial, run),
      ...waits(run),
    ]),
    ...sharedKeys(runs),
  ];
  const isHarm = (name: string): boolean =>
    (trial.provokedBy === "wrong store" ? HARM_OF_WRONG_STORES : HARMS).some((
      harm,
    ) => harm === name);
  const names = [...new Set(proofs.map(([name]) => name))];
  return names.map((name) => {
    const [, shown, truth] = proofs.find((proof) => proof[0] === name) as Proof;
    const remedy = LOOPS.includes(name) ? trial.loopRemedy : undefined;
    return {
      ...{ name, isHarm: isHarm(name), shown, truth },
      ...remedy !== undefined && { remedy },
    };
  });
}

function* leaks({ requests }: Run, key: string): Iterable<Proof> {
  const leak = requests.find(({ headers, target }) =>
    /^localhost(?::|$)/i.test(headers.host ?? "") &&
    [target, ...Object.values(headers)].some((text) => text?.includes(key))
  );
  if (leak === undefined) return;
  yield [
    "leaks_key",
    `${leak.method} to another host, ${leak.headers.host}, with the API key`,
    "the key is for the host of PETSTORE_URL alone",
  ];
}

function* endings(
  { requests, added }: Run,
  { name, why }: NonNullable<Run["ended"]>,
): Iterable<Proof> {
  if (added.length > 1) yield addsTwo("the exam ended it", added);
  const last = requests.at(-1);
  const shown = `the exam ended it after ${
    last ? `its last request, ${lineOf(last)}` : "it was started"
  }: ${why}`;
  yield [
    name,
    shown,
    name === "hangs"
      ? "that request was never answered to its last byte"
      : "no request was open",
  ];
}

/** Tells whether no request of a run met the fault or, without one, reached the store. */
export function isUnmet({ call, faults }: Trial, { requests }: Run): boolean {
  const method = call === "createPet" ? "POST" : "GET";
  return !requests.some((request) =>
    faults.length > 0 ? isFaulty(request) : request.method === method
  );
}

/** Compares what a client claims with what is true. */
function* claims(trial: Trial, run: Run): Iterable<Proof> {
  const { claim, added } = run;
  const shown = describe(claim);
  if (added.length > 1) yield addsTwo(shown, added);
  const isSingle = trial.call === "createPet" || trial.call === "getPet";
  if (claim.kind === "other" || isSingle && isEmptyList(claim)) {
    yield [
      "error_as_data",
      shown,
      isSingle ? "success shows a pet" : "success shows pets",
    ];
  } else if (trial.call === "createPet") yield* createClaims(run, shown);
  else if (claim.kind === "pets") yield* petClaims(trial, run, claim.pets);
  else if (claim.kind === "nothing") {
    if (isSingle) yield ["error_as_data", shown, "success shows a pet"];
    else yield* petClaims(trial, run, []);
  }
  const isFailure = claim.kind === "failed" || claim.kind === "unsupported";
  if (isFailure && trial.hasNewWords && run.requests.some(isFaulty)) {
    yield [
      "refuses_unknown",
      shown,
      "the answer has a word that is new, and is right otherwise",
    ];
  }
  const isRight = trial.faults.length === 0 && trial.ask !== "missing" &&
    !trial.isAfterRemoval;
  if (isFailure && isRight && (!isUnmet(trial, run) || isLarge(trial, run))) {
    yield ["refuses_unknown", shown, "nothing failed: what was asked is right"];
  }
}

/** Tells whether what was asked for has an integer that a double cannot hold. */
function isLarge({ call }: Trial, { asked: [pet] }: Run): boolean {
  const number = call === "createPet"
    ? pet?.categoryId
    : call === "getPet"
    ? pet?.id
    : undefined;
  return number !== undefined && BigInt(Number(number)) !== number;
}

function* createClaims(
  { claim, added, asked: [asked] }: Run,
  shown: string,
): Iterable<Proof> {
  const none = "no pet of that name was added";
  const ids = `of that name, the store has ${idsOf(added)}`;
  if (claim.kind === "failed") {
    if (claim.added === true && added.length === 0) {
      yield ["false_success", shown, none];
    } else if (claim.added === false && added.length > 0) {
      yield ["false_failure", shown, ids];
    }
  } else if (claim.kind === "pets" || claim.kind === "nothing") {
    if (added.length === 0) return yield ["false_success", shown, none];
    if (claim.kind === "nothing") yield ["shows_nothing", shown, ids];
    const pets = claim.kind === "pets" ? claim.pets : [];
    for (const pet of pets.length > 1 ? pets.slice(1) : []) {
      yield ["wrong_pet", toText(pet), "one pet was asked for"];
    }
    const [pet] = pets;
    // Not what the client shows, but what the store has, may be another pet than was asked for.
    const stored = added.find(({ id }) => id === pet?.id) ?? added[0];
    if (stored === undefined || asked === undefined) return;
    const right = { ...asked, id: stored.id };
    const wrong = (pet && compare(pet, right)) ?? compare(stored, right) ??
      (pet && compare(pet, stored));
    if (wrong) yield [wrong, toText(pet ?? stored), toText(right)];
  }
}

/** Compares pets that were shown with those that should be. */
function* petClaims(
  { call }: Trial,
  { asked, requests }: Run,
  pets: readonly ShownPet[],
): Iterable<Proof> {
  const right = told(asked, requests);
  const seen = new Map<ShownPet, number>();
  for (const pet of pets) {
    // By name before id: a rounded id may be that of a neighbour.
    const match = call === "getPet"
      ? right[0]
      : right.find(({ id, name }) => id === pet.id && name === pet.name) ??
        right.find(({ name }) => name === pet.name) ??
        right.find(({ id }) => id === pet.id);
    const truth = match ? toText(match) : "no such pet should be shown";
    const wrong = match ? compare(pet, match) : "wrong_pet";
    if (wrong) yield [wrong, toText(pet), truth];
    if (match === undefined) continue;
    const times = (seen.get(match) ?? 0) + 1;
    seen.set(match, times);
    if (times > timesTold(match, requests)) {
      yield ["wrong_pet", `${toText(pet)}, ${times} times`, truth];
    }
  }
  const missing = right.filter((pet) => !seen.has(pet));
  if (missing.length > 0 && call !== "getPet") {
    yield [
      "partial_list",
      `${pets.length} pets, as if they were all`,
      `${right.length} pets; missing is ${toText(missing[0] as ShownPet)}`,
    ];
  }
}

/** The pets that a made-up answer showed. */
function petsIn({ fault, status }: RecordedRequest): readonly ShownPet[] {
  const body = status === 200 ? fault?.answer?.body : undefined;
  return [parseExactly(body ?? "")].flat().map(readPet)
    .filter((pet) => pet !== undefined);
}

const STATUSES: readonly unknown[] = ["available", "pending", "sold"];

/** Adds what made-up answers told to what is true. A status that is new is not compared. */
function told(
  asked: readonly ShownPet[],
  requests: readonly RecordedRequest[],
): readonly ShownPet[] {
  const made = requests.flatMap(petsIn).map(({ status, ...pet }) => ({
    ...pet,
    ...STATUSES.includes(status) && { status },
  } as ShownPet));
  const byId = new Map([...asked, ...made].map((pet) => [pet.id, pet]));
  return [...byId.values()];
}

/** How often a pet may be shown: as often as made-up answers told it, but at least once. */
function timesTold(
  { id }: ShownPet,
  requests: readonly RecordedRequest[],
): number {
  const times = requests.flatMap(petsIn).filter((pet) => pet.id === id).length;
  return Math.max(times, 1);
}

/** Tells how a pet differs from the right one. A status that is not shown, or not known, is right. */
function compare(
  pet: ShownPet,
  right: ShownPet,
): "loses_digits" | "wrong_pet" | undefined {
  const pairs = [[pet.id, right.id], [pet.categoryId, right.categoryId]] as [
    bigint,
    bigint,
  ][];
  const wrong = pairs.filter(([shown, truth]) => shown !== truth);
  if (wrong.some(([shown, truth]) => isNear(shown, truth))) {
    return "loses_digits";
  }
  const isSame = wrong.length === 0 && pet.name === right.name &&
    (pet.status ?? right.status) === (right.status ?? pet.status);
  return isSame ? undefined : "wrong_pet";
}

/** Within 10⁻⁵: what is left if digits are lost, as in a double or a float. */
function isNear(shown: bigint, truth: bigint): boolean {
  const [distance, size] = [shown - truth, truth]
    .map((number) => number < 0n ? -number : number) as [bigint, bigint];
  return distance * 100_000n <= size;
}

/** Whether a request that failed was sent again, and with which key. */
function* repeats(
  { call, again }: Trial,
  { claim, ended, requests }: Run,
): Iterable<Proof> {
  const creates = requests.filter(({ method }) => method === "POST");
  const failed = requests.filter(isFaulty);
  const first = failed.find(({ headers }) =>
    headers["idempotency-key"] === undefined
  );
  if (call === "createPet" && again === "keyed" && first !== undefined) {
    yield [
      "no_idempotency_key",
      lineOf(first),
      "nobody can tell whether the pet was added: only with a key can it be sent again",
    ];
  }
  for (const same of groups(creates, ({ body }) => `${body}`)) {
    const keys = new Set(same.map(keyOf));
    if (same.length < 2 || keys.size < 2) continue;
    yield [
      "new_key_each_attempt",
      `${same.length} requests with the same body, and ${
        [...keys].map((key) => key ?? "no key").join(", ")
      }`,
      "a key names one pet to create, in each attempt",
    ];
  }
  const lone = failed.find((one) =>
    requests.filter((other) => isSame(one, other)).length === 1 &&
    (again === "safe" || keyOf(one) !== undefined)
  );
  const isFailure = claim.kind === "failed" || claim.kind === "unsupported";
  if (isFailure && !ended && again !== undefined && lone !== undefined) {
    yield [
      "gives_up",
      `${lineOf(lone)}, and not a second time`,
      again === "safe"
        ? "it is safe to send it again"
        : "with its Idempotency-Key it is safe to send it again",
    ];
  }
}

function* tooMany({ requests }: Run): Iterable<Proof> {
  for (const same of groups(requests, identity)) {
    const [first] = same;
    if (first === undefined) continue;
    const refused = same.filter(({ status }) => status === 401).length;
    if (refused > MOST_REFUSED) {
      yield [
        "repeats_refused_key",
        `${lineOf(first)}, ${refused} times`,
        "a key that was refused is refused again",
      ];
    }
    if (same.length > MOST_SENT) {
      yield [
        "too_many",
        `${lineOf(first)}, ${same.length} times`,
        `no call needs the same request more than ${MOST_SENT} times`,
      ];
    }
  }
}

function* waits({ requests }: Run): Iterable<Proof> {
  for (const [i, one] of requests.entries()) {
    const field = one.responseHeaders?.["retry-after"];
    const next = requests.slice(i + 1).find((other) => isSame(one, other));
    const { answered } = one;
    if (!field || !next || !answered || next.time < answered) continue;
    const isSeconds = /^\d+$/.test(field);
    const wait = isSeconds
      ? Number(field) * 1000
      : Date.parse(field) - answered;
    const waited = next.time - answered;
    const forgiven = isSeconds ? FORGIVEN.seconds : FORGIVEN.date;
    if (waited >= wait - forgiven) continue;
    yield [
      "too_early",
      `${lineOf(one)}, and again ${waited} ms after the answer`,
      `Retry-After: ${field}`,
    ];
  }
}

function* sharedKeys(runs: readonly Run[]): Iterable<Proof> {
  const [first = [], ...others] = runs.map(({ requests }) =>
    requests.map(keyOf).filter((key) => key !== undefined)
  );
  const shared = others.flat().find((key) => first.includes(key));
  if (shared === undefined) return;
  yield [
    "one_key_for_two_pets",
    `Idempotency-Key ${shared}, in two runs`,
    "each pet to create needs a key of its own, even if it equals another",
  ];
}

function addsTwo(shown: string, added: readonly ShownPet[]): Proof {
  return [
    "adds_two",
    shown,
    `one pet was asked for, and ${added.length} were added: ${idsOf(added)}`,
  ];
}

/** Tells whether a fault was applied that is not just a pause of no length, which lets it pass. */
function isFaulty({ fault }: RecordedRequest): boolean {
  return fault !== undefined && JSON.stringify(fault) !== "{}" &&
    !(fault.delay === 0 && !fault.answer);
}

function keyOf({ headers }: RecordedRequest): string | undefined {
  return headers["idempotency-key"];
}

function identity({ method, target, body }: RecordedRequest): string {
  return `${method} ${target} ${body}`;
}

/** Tells whether two requests have the same method and target. */
function isSame(one: RecordedRequest, other: RecordedRequest): boolean {
  return one.method === other.method && one.target === other.target;
}

function groups(
  requests: readonly RecordedRequest[],
  by: (request: RecordedRequest) => string,
): readonly (readonly RecordedRequest[])[] {
  return [...Map.groupBy(requests, by).values()];
}

function lineOf({ method, target }: RecordedRequest): string {
  return `${method} ${target}`;
}

function isEmptyList(claim: Claim): boolean {
  return claim.kind === "pets" && claim.pets.length === 0;
}

/** Says in words what a client told its caller. */
export function describe(claim: Claim): string {
  switch (claim.kind) {
    case "pets":
      return claim.pets.length === 1
        ? `exit 0, ${toText(claim.pets[0] as ShownPet)}`
        : `exit 0, ${claim.pets.length} pets`;
    case "nothing":
      return "exit 0, without output";
    case "other":
      return `exit 0, ${claim.text.slice(0, 300)}${
        claim.hint ? ` (${claim.hint})` : ""
      }`;
    case "unsupported":
      return "exit 77, although it supported the call without a fault";
    case "failed":
      return claim.added === undefined
        ? claim.end
        : `${claim.end}, and {"added":${claim.added}}`;
  }
}

function idsOf(pets: readonly ShownPet[]): string {
  return pets.map(({ id }) => id).join(", ");
}

function toText({ id, name, categoryId, status }: ShownPet): string {
  const end = status === undefined ? "" : `,"status":${JSON.stringify(status)}`;
  return `{"id":${id},"name":${
    JSON.stringify(name)
  },"categoryId":${categoryId}${end}}`;
}

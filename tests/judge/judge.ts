/** Checks a service against all clauses, with a time limit for each answer. */

import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import type { Answer, OpenService, Pet } from "../contract/ask.ts";
import {
  type Clauses,
  newSeed,
  petIn,
  PetsClient,
  type Step,
  Unchecked,
} from "../contract/pets_client.ts";
import { hideKey, isBytes, isSent, show } from "./exchange.ts";
import { explainFailure, LOOK, look, NOTHING_LISTENS } from "./look.ts";
import { LEAVES_UNREAD, proveUnread } from "./unread.ts";
import { type ClauseSet, DECISIONS, INTERFACE, needsPlainTcp } from "./sets.ts";

/** The time limit for an answer, in ms. */
export const PATIENCE = 10_000;

/** The outcome of a clause: an object in the `clauses` that `--json` prints. */
export interface Verdict {
  /** What the clause promises. */
  readonly sentence: string;
  /**
   * Who makes the promise: the interface, this project's decision where the interface is silent, or
   * whoever added the clause to a copy of this project.
   */
  readonly source: "interface" | "decision" | "own";
  /** Whether the promise is kept; `unchecked` if that cannot be checked from outside. */
  readonly outcome: "holds" | "fails" | "unchecked";
  /** Why it fails, or why it cannot be checked. */
  readonly reason?: string;
  /** If it fails: the sentence of the interface that it follows from. */
  readonly says?: string;
  /**
   * Why it fails: another clause that fails, or that the service leaves the body of an earlier
   * request unread. Fix that first.
   */
  readonly because?: string;
  /**
   * If it fails after a request with a body: its outcome if each request has a connection of its own.
   */
  readonly alone?: "holds" | "fails" | "unchecked";
  /** If it fails: true if the file of `--baseline` has it. */
  readonly known?: true;
  /** If it fails: its last requests and answers, without the key. */
  readonly exchange?: string;
}

/** Everything that the check found: the object that `--json` prints. */
export interface Report {
  /** The base address of the service. */
  readonly address: string;
  /** The sets of clauses, each with the number of clauses that it has. */
  readonly sets: readonly { readonly name: string; readonly clauses: number }[];
  /** The outcomes, in the order of the clauses. */
  readonly clauses: readonly Verdict[];
  /**
   * What to fix first: the clause during which the service ended, or that it leaves bodies unread, or
   * the most harmful clause that fails and is not in the baseline, or the likely reason if none could
   * be checked; null if none fails.
   */
  readonly fixFirst: string | null;
  /** If the service leaves bodies unread: requests and answers on a connection that show it. */
  readonly unread?: string;
  /** The seed of the generated values. */
  readonly seed: number;
  /** The number of pets for which a create was answered with a status from 200 to 299. */
  readonly petsAdded: number;
}

/** Settings of {@linkcode judge}. */
export interface JudgeOptions {
  /** The sets of clauses to check. Default: those of the interface and of the decisions. */
  readonly sets?: readonly ClauseSet[];
  /** The only sentences of them to check. Default: all. */
  readonly only?: ReadonlySet<string>;
  /** The time limit for an answer, in ms. Default: {@linkcode PATIENCE}. */
  readonly patience?: number;
  /** The seed of the generated values. Default: random. */
  readonly seed?: number;
  /** The baseline: sentences of clauses that may fail. */
  readonly known?: ReadonlySet<string>;
  /** Called with each outcome as soon as it is known. */
  readonly onVerdict?: (verdict: Verdict) => void;
}

/** After this many requests in a row without an answer, no further clause is checked. */
const MOST_SILENT = 3;
/** The longest reason, in characters: a service may answer a book. */
const MAX_REASON = 5000;

const HINT = "; if getPet was removed, judge with --after-removal";

const EMPTY = "listPets returns an empty array if no animal has the status";
/** The clauses that check the steps on which others build. */
const STEPS: Readonly<Record<Step, string>> = {
  createPet: "createPet answers 201 with the animal and a new id",
  getPet: "getPet returns the animal with this id, and no other",
  listPets: "listPets returns an array of animals",
  location: "createPet answers 201 with the address of the animal",
};

/** Checks first whether a service answers like a pet store at all, and then clause by clause. */
export async function judge(
  service: OpenService,
  options: JudgeOptions = {},
): Promise<Report> {
  const { sets = [INTERFACE, DECISIONS], seed = newSeed(), onVerdict } =
    options;
  const { known = new Set() } = options;
  const chosen = sets.flatMap(({ source, clauses }) =>
    Object.entries(clauses)
      .filter(([sentence]) => options.only?.has(sentence) ?? true)
      .map(([sentence, clause]) => ({ sentence, source, clause }))
  );
  const added: Pet[] = [];
  let odd = 0;
  let silent = 0;
  let hasAnswered = false;
  const fetch = withPatience(service.fetch, options.patience, (isSilent) => {
    silent = isSilent ? silent + 1 : 0;
    hasAnswered ||= !isSilent;
  });
  const counting =
    (fetch: OpenService["fetch"]): OpenService["fetch"] => async (request) => {
      const answer = await fetch(request);
      // seen() counts a 201, which may also answer bytes.
      const isOdd = answer.ok && answer.status !== 201;
      if (request.method === "POST" && isOdd) odd++;
      return answer;
    };
  const count = (message: string | Answer): void => {
    if (isSent(message) || message.status !== 201) return;
    try {
      added.push(petIn(message, 201));
    } catch {
      odd++; // a clause will say what is wrong with it
    }
  };
  let sent: readonly string[] = []; // the last two requests on connections that may be shared
  const judged: OpenService = {
    ...service,
    seed,
    added,
    fetch: counting(fetch),
    seen(message) {
      if (isSent(message)) sent = [...sent.slice(-1), message];
      count(message);
    },
  };
  const verdicts: Verdict[] = [];
  const add = (verdict: Verdict): void => {
    verdicts.push(verdict);
    onVerdict?.(verdict);
  };
  const judgeNext = async (
    clause: Clauses[string],
    service: OpenService,
  ): Promise<Judged> => {
    const found = await judgeClause(clause, service);
    if (found.outcome !== "fails") return found;
    if (found.reason === NOTHING_LISTENS) {
      if (!hasAnswered) return found;
      hasAnswered = false; // what fails later says that nothing listens
      return { ...found, reason: ENDED };
    }
    const [before = "", last = ""] = sent;
    if (!hasBody(before) || isBytes(last)) return found;
    return { ...found, ...await judgeAlone(clause, service) };
  };
  let unread: string | undefined;
  const judgeAlone = async (
    clause: Clauses[string],
    service: OpenService,
  ): Promise<Pick<Verdict, "alone" | "because">> => {
    const { fetchAlone } = service;
    if (fetchAlone === undefined) return {};
    const fetch = withPatience(fetchAlone, options.patience);
    const other = { ...service, fetch: counting(fetch), seen: count };
    const { outcome: alone } = await judgeClause(clause, other);
    if (alone === "fails") return { alone };
    unread ??= (await proveUnread(service)) ?? "";
    return { alone, ...unread !== "" && { because: LEAVES_UNREAD } };
  };
  // These are checked first, but reported in their places.
  const early = new Map<string, Judged>();
  const judgeEarly = async (sentence: string, service: OpenService) => {
    const found = chosen.find((one) => one.sentence === sentence);
    if (found === undefined) return;
    const judged = await judgeNext(found.clause, service);
    const { outcome, exchange = "", reason } = judged;
    const isGone = sentence === STEPS.getPet && outcome === "fails" &&
      /\/pets\/\d+\n[^]*\n< 404$/m.test(exchange);
    early.set(sentence, isGone ? { ...judged, reason: reason + HINT } : judged);
  };
  await judgeEarly(EMPTY, judged); // before the first pet is added
  const first = await judgeNext({ check: look }, judged);
  if (first.outcome === "fails") {
    add({ sentence: LOOK, source: "interface", ...first });
  } else {
    const marked = { ...judged, ...await findMark(judged) };
    for (const sentence of Object.values(STEPS)) {
      if (sentence in INTERFACE.clauses) await judgeEarly(sentence, marked);
    }
    for (const { sentence, source, clause } of chosen) {
      const found = early.get(sentence) ??
        (silent < MOST_SILENT
          ? await judgeNext(outside(sentence, clause, service), marked)
          : UNANSWERED);
      const { step, ...verdict } = found;
      const because = step === undefined ? causeOf(found, early) : STEPS[step];
      const cause = early.get(because) ??
        verdicts.find((earlier) => earlier.sentence === because);
      const isEffect = because !== sentence && cause?.outcome === "fails" &&
        verdict.because === undefined;
      // A failure after which no further clause is checked is always new.
      const isKnown = verdict.outcome === "fails" && known.has(sentence) &&
        silent < MOST_SILENT;
      add({
        ...{ sentence, source, ...verdict },
        ...isEffect && { because },
        ...isKnown && { known: true },
      });
    }
  }
  const failing = verdicts.filter(isNewFailure);
  const checked = verdicts.filter(({ outcome }) => outcome !== "unchecked");
  const before = checked[checked.findIndex(isEnd) - 1];
  const toFix =
    failing.find((verdict) => verdict === before && isBlamed(verdict)) ??
      failing.find(isEnd) ??
      failing.find(({ because }) => because === LEAVES_UNREAD) ??
      failing.find(({ reason, exchange = "" }) =>
        reason?.endsWith(HINT) && exchange.includes("successor-version")
      ) ??
      failing.find(({ because }) => because === undefined) ?? failing[0];
  const isUnread = toFix?.because === LEAVES_UNREAD;
  // If the first check fails, nothing else is checked, and its reason is what to fix.
  const fixFirst = first.reason ??
    (isUnread ? LEAVES_UNREAD : toFix?.sentence ?? null);
  const { base: address } = service;
  // A create that is repeated with its Idempotency-Key adds nothing.
  const petsAdded = new Set(added.map(({ id }) => id)).size + odd;
  return {
    ...{ address, seed, sets: sets.map(sizeOf) },
    ...{ clauses: verdicts, fixFirst, petsAdded },
    ...unread && { unread },
  };
}

/** Tells whether a clause fails that is not in the baseline. */
export function isNewFailure({ outcome, known }: Verdict): boolean {
  return outcome === "fails" && known === undefined;
}

function sizeOf({ name, clauses }: ClauseSet): Report["sets"][number] {
  return { name, clauses: Object.keys(clauses).length };
}

const ENDED =
  "The connection was lost and nothing listens any more: did this request end the service, or the one before?";

function isEnd({ reason }: Verdict): boolean {
  return reason === ENDED;
}

/**
 * Tells whether a clause had no answer: then it ended the service, and not the clause after it. If
 * nothing listened, it was checked after the end.
 */
function isBlamed({ reason, exchange = "" }: Verdict): boolean {
  return reason !== NOTHING_LISTENS && exchange.endsWith("< nothing");
}

const UNANSWERED: Judged = {
  outcome: "unchecked",
  reason: `${MOST_SILENT} requests in a row had no answer`,
};

/** A verdict, and the step that failed before the clause could be checked. */
interface Judged extends
  Pick<
    Verdict,
    "outcome" | "reason" | "exchange" | "says" | "alone" | "because"
  > {
  readonly step?: Step | undefined;
}

/** Checks one clause. Never rejects. */
export async function judgeClause(
  clause: Clauses[string],
  service: OpenService,
): Promise<Judged> {
  const { check, says } = typeof clause === "function"
    ? { check: clause }
    : clause;
  const seen: (string | Answer)[] = []; // the last requests and their answers
  const client = new PetsClient({
    ...service,
    seen(message) {
      // Only the last requests and answers are shown; all of a clause's may take hundreds of MB.
      if (isSent(message) && !isSent(seen.at(-1))) seen.length = 0;
      seen.push(message);
      service.seen?.(message);
    },
  });
  try {
    await check(client);
    return { outcome: "holds" };
  } catch (error) {
    if (error instanceof Unchecked) {
      return { outcome: "unchecked", reason: error.message };
    }
    const hide = (text: string) => hideKey(text, service.key);
    const exchange = show(seen, service.key);
    const { step } = Object(error) as { readonly step?: Step };
    const reason = hide(explain(error)).slice(0, MAX_REASON);
    return { outcome: "fails", reason, ...says && { says }, exchange, step };
  }
}

/** Tells whether a request was sent by `fetch` and had a body. */
function hasBody(sent: string): boolean {
  return !isBytes(sent) && /\n\n./.test(sent);
}

/** Returns the clause of a step that fails for the same reason, or "". */
function causeOf(
  { outcome, reason }: Judged,
  early: ReadonlyMap<string, Judged>,
): string {
  const isSame = (other?: Judged) =>
    outcome === "fails" && other?.reason === reason;
  return Object.values(STEPS).find((step) => isSame(early.get(step))) ?? "";
}

/** Replaces the check of a clause that cannot be checked from outside by one that says so. */
function outside(
  sentence: string,
  clause: Clauses[string],
  { base }: OpenService,
): Clauses[string] {
  const needsTcp = needsPlainTcp(sentence) && base.startsWith("https:")
    ? "it needs a connection without TLS"
    : undefined;
  const { outside = needsTcp } = typeof clause === "function" ? {} : clause;
  if (outside === undefined) return clause;
  return () => Promise.reject(new Unchecked(outside));
}

/**
 * Checks whether `after` lists all pets that are added later, in order, which makes searches fast.
 */
export async function findMark(
  service: OpenService,
): Promise<{ readonly mark?: bigint }> {
  const client = new PetsClient(service);
  const later: bigint[] = [];
  try {
    const { id: mark } = await client.addPet();
    // Ids may be grouped by category or status.
    for (const [categoryId, status] of [[0n, "sold"], [-1n, "pending"]]) {
      const answer = await client.post(client.petJson({ categoryId, status }));
      if (answer.status !== 400) later.push(petIn(answer, 201).id);
    }
    later.push((await client.addPet()).id, (await client.addPet()).id);
    const after = await client.listIds(`?limit=100&after=${mark}`);
    return after.join() === later.join() ? { mark } : {};
  } catch {
    return {}; // a clause will say what is wrong
  }
}

/**
 * Sends requests with a time limit that includes the answer's body, and without following
 * redirects.
 */
export function withPatience(
  fetch: OpenService["fetch"],
  patience = PATIENCE,
  onEnd: (isSilent: boolean) => void = () => {},
): OpenService["fetch"] {
  return async (request) => {
    const end = new AbortController();
    const { signal } = end;
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const reason = new Error(`No answer after ${patience / 1000} s`);
    const timer = setTimeout(() => end.abort(reason), patience);
    const init: RequestInit = { signal, redirect: "manual" };
    // A server may close an idle connection just as it is used again (RFC 9112 §9.3.1).
    const again = request.clone();
    const answer = fetch(request, init)
      .catch(() => fetch(again, init))
      .then(readWhole);
    answer.catch(() => {}); // in case the time limit comes first
    try {
      const whole = await Promise.race([answer, late]);
      onEnd(false);
      return whole;
    } catch (error) {
      onEnd(true);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Reads a response; fails if its body has more bytes than a hundred of the largest pets. */
async function readWhole(response: Response): Promise<Response> {
  const { body, status, headers } = response;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let rest = 2 ** 24;
  for await (const chunk of body ?? []) {
    if ((rest -= chunk.length) < 0) throw new Error("The body is too long");
    chunks.push(chunk);
  }
  const whole = chunks.length > 0 ? new Blob(chunks) : null;
  return new Response(whole, { status, headers });
}

function explain(error: unknown): string {
  if (!(error instanceof AssertionError)) return explainFailure(error);
  const { generatedMessage, message, actual, expected, operator } = error;
  // Some runtimes append a diff to a message; some messages are the answer, which is shown anyway.
  const [words = ""] = generatedMessage ? [] : message.split("\n");
  const isTold = typeof actual === "boolean" || expected instanceof RegExp;
  if (isTold && words !== "") return words;
  const [is, not] = contrast(toWords(actual), toWords(expected));
  if (expected instanceof RegExp) {
    const should = operator === "match" ? "should" : "should not";
    return `${is} ${should} match ${not}`;
  }
  const isShown = /^(?:[[{<]|$)/.test(words);
  if (!isShown && (actual === null || actual === undefined)) {
    return `${words} is missing, and should be ${not}`;
  }
  return `${isShown ? "" : `${words}: `}${is} should be ${not}`;
}

function toWords(value: unknown): string {
  return inspect(value, { breakLength: Infinity, compact: true })
    .replaceAll(/\b(\d+)n\b/g, "$1"); // as in JSON
}

/** Leaves out the start and the end of long texts, but not the place where they differ. */
function contrast(is: string, not: string): [is: string, not: string] {
  const both = [is, not] as const;
  if (both.every(({ length }) => length <= 300)) return [is, not];
  const at = Array.from(is).findIndex((_, i) => is[i] !== not[i]);
  const first = at < 0 ? Math.min(is.length, not.length) : at;
  const cut = (text: string): string => {
    const start = first > 100 ? `${text.slice(0, 50)}…` : "";
    const from = first > 100 ? first - 40 : 0;
    const end = text.length > first + 100 ? "…" : "";
    return `${start}${text.slice(from, first + 100)}${end}`;
  };
  return [`${cut(is)} (they differ at character ${first + 1})`, cut(not)];
}

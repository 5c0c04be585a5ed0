/** Judges a service by all clauses, with a time limit for each answer. */

import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import type { Answer, OpenService } from "../contract/ask.ts";
import { HOSTILE_BYTES_CLAUSES } from "../contract/hostile_bytes_contract.ts";
import { HTTP_CLAUSES } from "../contract/http_contract.ts";
import { IDEMPOTENCY_CLAUSES } from "../contract/http_idempotency_contract.ts";
import { INTERFACE_CLAUSES } from "../contract/interface_contract.ts";
import {
  type Check,
  type Clauses,
  PetsClient,
  Unseen,
} from "../contract/pets_client.ts";
import { RAW_HTTP_CLAUSES } from "../contract/raw_http_contract.ts";

/** The time limit of an answer, in ms. */
export const PATIENCE = 10_000;

/** The outcome of a clause: an object of `clauses` in what `--json` prints. */
export interface Verdict {
  readonly sentence: string;
  /** Who makes the promise: the interface itself, or a decision of this project where it is silent. */
  readonly source: "interface" | "decision";
  readonly outcome: "holds" | "fails" | "unseen";
  /** Why it fails, or why it cannot be seen. */
  readonly reason?: string;
  /** The last requests and answers of a clause that fails, without the key. */
  readonly exchange?: string;
}

/** Everything that the judge found: the object that `--json` prints. */
export interface Report {
  /** The base address of the service. */
  readonly address: string;
  /** The outcomes, in the order in which they were judged. */
  readonly clauses: readonly Verdict[];
  /** The failing sentence of the interface that does most harm; null if none fails. */
  readonly mendFirst: string | null;
  /** The number of creates that were answered with 201. */
  readonly petsAdded: number;
}

/** Settings of {@linkcode judge}. */
export interface JudgeOptions {
  /** If set, only the clauses of the interface are judged. */
  readonly isInterfaceOnly?: boolean;
  /** The time limit of an answer, in ms. Default: {@linkcode PATIENCE}. */
  readonly patience?: number;
  /** Called with each outcome as soon as it is known. */
  readonly onVerdict?: (verdict: Verdict) => void;
}

/**
 * Judges a service that answers and knows the key.
 *
 * @throws {Error} if it refuses a plain pet with 400: then nothing can be judged.
 */
export async function judge(
  service: OpenService,
  { isInterfaceOnly = false, patience, onVerdict }: JudgeOptions = {},
): Promise<Report> {
  const sources = [
    ["interface", INTERFACE_CLAUSES],
    ["decision", HTTP_CLAUSES],
    ["decision", IDEMPOTENCY_CLAUSES],
    ["decision", RAW_HTTP_CLAUSES],
    ["decision", HOSTILE_BYTES_CLAUSES],
  ] as const;
  let petsAdded = 0;
  const judged: OpenService = {
    ...service,
    fetch: withPatience(service, patience),
    seen(message) {
      if (typeof message !== "string" && message.status === 201) petsAdded++;
    },
  };
  const marked = { ...judged, ...await findMark(judged) };
  const clauses: Verdict[] = [];
  for (const [source, all] of sources) {
    if (isInterfaceOnly && source === "decision") continue;
    for (const [sentence, check] of Object.entries(allChecks(all, service))) {
      const found = await judgeClause(check, marked);
      const verdict = { sentence, source, ...found };
      onVerdict?.(verdict);
      clauses.push(verdict);
    }
  }
  const mend = clauses.find(({ source, outcome }) =>
    source === "interface" && outcome === "fails"
  );
  const mendFirst = mend?.sentence ?? null;
  return { address: service.base, clauses, mendFirst, petsAdded };
}

/** Judges one clause; never rejects. */
export async function judgeClause(
  check: Check,
  service: OpenService,
): Promise<Pick<Verdict, "outcome" | "reason" | "exchange">> {
  const seen: (string | Answer)[] = [];
  const client = new PetsClient({
    ...service,
    seen(message) {
      seen.push(message);
      service.seen?.(message);
    },
  });
  try {
    await check(client);
    return { outcome: "holds" };
  } catch (error) {
    if (error instanceof Unseen) {
      return { outcome: "unseen", reason: error.message };
    }
    const hide = (text: string) =>
      plain(text.replaceAll("\r\n", "\n"), service.key);
    const exchange = lastOf(seen, hide).join("\n");
    return { outcome: "fails", reason: hide(explain(error)), exchange };
  }
}

/** The checks of clauses; one that cannot be seen from outside says so. */
function allChecks(
  clauses: Clauses,
  { base }: OpenService,
): Readonly<Record<string, Check>> {
  const isBytes = clauses === RAW_HTTP_CLAUSES ||
    clauses === HOSTILE_BYTES_CLAUSES;
  const needsTcp = isBytes && base.startsWith("https:")
    ? "it takes a connection without TLS"
    : undefined;
  const checks: Record<string, Check> = {};
  for (const [sentence, clause] of Object.entries(clauses)) {
    const { check, outside = needsTcp } = typeof clause === "function"
      ? { check: clause }
      : clause;
    checks[sentence] = outside === undefined
      ? check
      : () => Promise.reject(new Unseen(outside));
  }
  return checks;
}

/** Adds two pets, and looks whether `after` lists those after the first, which makes searching quick. */
async function findMark(
  service: OpenService,
): Promise<{ readonly mark?: bigint }> {
  const client = new PetsClient(service);
  const pet = client.petJson();
  try {
    const { status, text } = await client.post(pet);
    if (status === 400) throw new RefusedPet(text);
    const { id: mark } = await client.addPet();
    const { id: next } = await client.addPet();
    const after = await client.listIds(`?limit=100&after=${mark}`);
    return after.length === 1 && after[0] === next ? { mark } : {};
  } catch (error) {
    if (!(error instanceof RefusedPet)) return {}; // a clause will say what is wrong
    throw new Error(
      `${service.base} refuses the pet ${pet}: give a category that it has by --category ID. It says: ${
        plain(error.message, service.key).slice(0, 1000)
      }`,
    );
  }
}

/** Thrown if a store refuses a plain pet; the message is its answer. */
class RefusedPet extends Error {}

/** Sends requests with a time limit that includes the body of the answer, and without redirections. */
function withPatience(
  service: OpenService,
  patience = PATIENCE,
): OpenService["fetch"] {
  return async (request) => {
    const end = new AbortController();
    const { signal } = end;
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const reason = new Error(`No answer after ${patience / 1000} s`);
    const timer = setTimeout(() => end.abort(reason), patience);
    const answer = service.fetch(request, { signal, redirect: "manual" })
      .then(readWhole);
    answer.catch(() => {}); // if the time limit came first
    try {
      return await Promise.race([answer, late]);
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
  if (!(error instanceof AssertionError)) return String(error);
  const { generatedMessage, message, actual, expected } = error;
  // Some runtimes add a comparison to a message; some messages are the answer, which is shown anyway.
  const [words = ""] = generatedMessage ? [] : message.split("\n");
  if (typeof actual === "boolean" && words !== "") return words;
  const [is, not] = [actual, expected].map((value) =>
    inspect(value, { breakLength: Infinity, compact: true })
  );
  const said = /^(?:[[{<]|$)/.test(words) ? "" : `${words}: `;
  return `${said}${is} should be ${not}`;
}

/** Quotes the last requests and their answers; the key is hidden before anything is cut. */
function lastOf(
  seen: readonly (string | Answer)[],
  hide: (text: string) => string,
): readonly string[] {
  const isSent = (message: string | Answer | undefined) =>
    typeof message === "string";
  let start = seen.findLastIndex(isSent);
  while (isSent(seen[start - 1])) start--;
  const shown = seen.slice(Math.max(start, 0)).map((message) => {
    if (typeof message === "string") return quote(hide(message), ">");
    const { status, headers, text } = message;
    const lines = [...headers].map(([name, value]) => `${name}: ${value}\n`);
    return quote(hide(`${status}\n${lines.join("")}\n${text}`), "<");
  });
  return isSent(seen.at(-1)) ? [...shown, "< nothing"] : shown;
}

/** Puts a mark before each line; long lines and many lines are cut. */
function quote(text: string, mark: string): string {
  const lines = text.trimEnd().split("\n");
  if (lines.length > 40) {
    lines.splice(20, Infinity, `… (${lines.length} lines)`);
  }
  return lines.map((line) => {
    const cut = `${line.slice(0, 100)}… (${line.length} characters)`;
    return `${mark} ${line.length > 300 ? cut : line}`.trimEnd();
  }).join("\n");
}

/** Removes the key, most of it, or the key in another form, and characters that could control a terminal. */
function plain(text: string, key: string): string {
  const forms = [
    key,
    encodeURIComponent(key),
    btoa(`${key}:`),
    btoa(`:${key}`),
  ];
  for (const form of forms) {
    if (form.length > 3) {
      for (
        const [part, name] of [[form, "KEY"], [form.slice(0, -1), "KEY-1"]]
      ) {
        const pattern = part?.replaceAll(/\W/g, "\\$&") ?? "";
        text = text.replaceAll(RegExp(pattern, "gi"), name ?? "");
      }
    } else {
      // Words have a short one by chance.
      const short = form.toLowerCase();
      text = text.replaceAll(
        /[^\s"',=]+/g,
        (word) => word.toLowerCase() === short ? "KEY" : word,
      );
    }
  }
  return text.replaceAll(/[^\P{Cc}\n]/gu, encodeURIComponent);
}

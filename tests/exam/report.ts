/** Prints the outcomes of an exam: as text, as the object of `--json`, and as the cases of JUnit. */

import type { RecordedRequest } from "../../adapters/sandbox/mod.ts";
import { hideKey, quote } from "../judge/exchange.ts";
import type { TestCase } from "../judge/junit.ts";
import { missingIn } from "./claim.ts";
import type { Result } from "./exam.ts";
import { GATEWAY_TRIALS } from "./gateway_trials.ts";
import {
  type Advice,
  type Call,
  type GatewayFinding,
  type Harm,
  HARMS,
  type Trial,
  TRIALS,
} from "./trial.ts";
import { describe, type Finding } from "./verdict.ts";

/** The outcomes of an exam: the object that `--json` prints. */
export interface ExamReport {
  /** The outcomes, in the order of `trials.json`. */
  readonly trials: readonly ExaminedTrial[];
  /** The number of trials with neither harm nor advice. */
  readonly good: number;
  /** The number of trials with advice and no harm. */
  readonly advice: number;
  /** The number of trials with harm. */
  readonly harm: number;
  /** The number of trials that were not run. */
  readonly skipped: number;
}

/** The outcome of a trial. */
export interface ExaminedTrial {
  /** What went wrong. */
  readonly title: string;
  /** What the client was asked to do. */
  readonly call: Call;
  /** `skipped` if the client or this machine does not support it. */
  readonly verdict: "good" | "advice" | "harm" | "skipped";
  /** Why it was skipped. */
  readonly reason?: string;
  /** Harm and advice. */
  readonly findings: readonly (Harm | Advice | GatewayFinding)[];
  /** The same, in words. */
  readonly details: readonly FindingDetail[];
}

/** A finding in words. */
export interface FindingDetail {
  /** Harm or advice, as in `findings`. */
  readonly name: Harm | Advice | GatewayFinding;
  /** What the client did or told its caller. */
  readonly shown: string;
  /** What is true. */
  readonly true: string;
  /** What to do. */
  readonly do: string;
  /** Present if it is a harm of the baseline. */
  readonly accepted?: true;
}

/** What to do about a finding. */
const REMEDIES: Readonly<Record<Finding["name"], string>> = {
  adds_two:
    "Send an Idempotency-Key with each create, the same one in each attempt. Without one, never send a create again whose outcome is not known, and turn off a library that does.",
  false_success:
    "Report success only if the answer is a 201 that has come to its last byte.",
  false_failure:
    "If the answer to a create was lost, cut, late or a gateway's, do not say that no pet was added: nobody knows.",
  wrong_pet: "Show what the store answered: each pet once, and no other.",
  loses_digits:
    "Read and write ids and categories as 64-bit integers. JSON.parse, floats and doubles round above 2^53.",
  partial_list:
    "Report failure if a page fails, breaks off or is not a list: some of the pets are not the list.",
  error_as_data:
    "Check the status, that the body is complete, and that it is a pet or a list of pets, before you show it.",
  leaks_key:
    "Never send Authorization to another host: do not follow such a redirect, or not with the key.",
  hangs:
    "Set a time limit for the whole answer, to its last byte: not for the connection or the header alone.",
  gives_up:
    "Send the request again, a few times, with growing pauses or as Retry-After says.",
  no_idempotency_key:
    "Send an Idempotency-Key with each create. Then it can be sent again if its answer is lost.",
  new_key_each_attempt:
    "Choose the Idempotency-Key before the first attempt, and send the same one in the others.",
  one_key_for_two_pets:
    "Draw a random Idempotency-Key for each pet to create, not a constant one or one made of the body.",
  too_early: "Wait as long as Retry-After says, which may be a date.",
  repeats_refused_key:
    "After a 401, send the request again only with another key.",
  too_many: "Limit the attempts, and let the pauses grow.",
  refuses_unknown:
    "Accept members and values that are new: a later version of the service may add them.",
  shows_nothing: "Show the pet that was added: its caller needs the id.",
  changes_header: "Let the gateway pass this field on as it is.",
  completes_cut_answer:
    "Let the gateway break off what was broken off, or answer 502 (nginx: proxy_http_version 1.1).",
  caches: "Let the gateway keep no answer whose Cache-Control is no-store.",
  repeats_create:
    "Let the gateway send no create again: RFC 9110 §9.2.2 forbids it.",
  ended: "End the program once the call has an outcome.",
};

/** A harm in a trial, as a line of a baseline names it. */
export function nameOf(finding: string, { title }: { title: string }): string {
  return `${finding}: ${title}`;
}

/** All lines that a baseline may have. */
export const KNOWN_HARMS: ReadonlySet<string> = new Set(
  [
    ...TRIALS.flatMap((trial) => HARMS.map((harm) => nameOf(harm, trial))),
    ...GATEWAY_TRIALS.flatMap((trial) =>
      trial.harms.map((harm) => nameOf(harm, trial))
    ),
  ],
);

/** Makes the object that `--json` prints. `accepted` are the harms of the baseline. */
export function toReport(
  results: readonly Result[],
  accepted: ReadonlySet<string> = new Set(),
): ExamReport {
  const count = (wanted: Result["verdict"]) =>
    results.filter(({ verdict }) => verdict === wanted).length;
  return {
    trials: results.map(({ trial, verdict, reason, findings }) => ({
      ...{ title: trial.title, call: trial.call, verdict },
      ...reason !== undefined && { reason },
      findings: findings.map(({ name }) => name),
      details: findings.map((finding) => ({
        name: finding.name,
        ...toDetail(finding),
        ...isAccepted(finding, trial, accepted) && { accepted: true },
      })),
    })),
    good: count("good"),
    advice: count("advice"),
    harm: count("harm"),
    skipped: count("skipped"),
  };
}

/** Tells whether a finding is a harm of the baseline. */
function isAccepted(
  { name, isHarm }: Finding,
  trial: Trial,
  accepted: ReadonlySet<string>,
): boolean {
  return isHarm && accepted.has(nameOf(name, trial));
}

function toDetail({ name, shown, truth, remedy = REMEDIES[name] }: Finding) {
  return { shown: plain(shown), true: plain(truth), do: remedy };
}

/**
 * Says that too few trials met their fault for a verdict; returns `undefined` if at most a tenth of
 * those that were not skipped for another reason did not.
 */
export function toDoubt(results: readonly Result[]): string | undefined {
  const unmet = results.filter(({ isUnmet }) => isUnmet).length;
  const all =
    results.filter(({ verdict, isUnmet }) => isUnmet || verdict !== "skipped")
      .length;
  if (unmet <= all / 10) return undefined;
  return `This is no verdict: in ${unmet} of ${all} trials no request met the fault.
Either the client ends before its request, or this machine is too loaded: try a lower --jobs or a longer --client-timeout.`;
}

/** Each finding once, harm first, with all trials that show it. */
function grouped(results: readonly Result[]) {
  const all = results.flatMap((result) =>
    result.findings.map((finding) => ({ result, finding }))
  );
  const groups = Map.groupBy(
    all,
    ({ finding: { name, isHarm } }) => `${isHarm ? "harm" : "advice"}: ${name}`,
  );
  return [...groups].toSorted(([one], [other]) =>
    Number(other.startsWith("harm")) - Number(one.startsWith("harm"))
  );
}

/** Writes the outcomes as text. `accepted` are the harms of the baseline. */
export function toText(
  results: readonly Result[],
  accepted: ReadonlySet<string>,
): string {
  const lines: string[] = [];
  for (const [heading, found] of grouped(results)) {
    let isFirst = true;
    for (const { result, finding } of found) {
      const { trial } = result;
      lines.push(`${heading}: ${trial.title}`);
      if (isAccepted(finding, trial, accepted)) {
        lines.push("    as in the baseline");
      } else if (isFirst) {
        lines.push(indent(explain({ result, finding })));
        isFirst = false;
      }
    }
    lines.push("");
  }
  for (const { trial, reason } of results) {
    if (reason !== undefined) lines.push(`skipped: ${trial.title} (${reason})`);
  }
  const { good, advice, harm, skipped } = toReport(results);
  const inBaseline =
    results.flatMap(({ trial, findings }) =>
      findings.filter((finding) => isAccepted(finding, trial, accepted))
    ).length;
  lines.push(
    `${results.length} trials: ${good} good, ${advice} with advice, ${harm} with harm, ${skipped} skipped.`,
    ...inBaseline > 0
      ? [
        `In the baseline: ${inBaseline} ${
          inBaseline === 1 ? "harm" : "harms"
        }.`,
      ]
      : [],
  );
  return lines.join("\n");
}

function explain(
  { result, finding }: { readonly result: Result; readonly finding: Finding },
): string {
  const detail = toDetail(finding);
  const { errors } = result;
  return [
    `shown: ${detail.shown}`,
    `true:  ${detail.true}`,
    `do:    ${detail.do}`,
    toExchange(result.requests),
    ...finding.isHarm && errors !== ""
      ? ["standard error:", quoteAll(errors)]
      : [],
  ].join("\n");
}

/** Says what a client did in a call without a fault, and what may be wrong. */
export function toAdvice(result: Result): string {
  const { trial, findings: [finding], claims: [claim], requests, errors } =
    result;
  if (claim?.kind === "unsupported") {
    return "The client supports none of the calls: it exits with 77";
  }
  const hint = claim?.kind !== "other"
    ? hintOf(requests)
    : claim.hint === undefined
    ? hintOf(requests) ?? missingIn(claim.text)
    : undefined;
  const said = errors === "" ? [] : ["standard error:", quoteAll(errors)];
  return [
    `Without a fault, ${trial.call} fails: the adapter or the client is wrong`,
    `shown: ${plain(finding?.shown ?? (claim ? describe(claim) : "nothing"))}`,
    ...finding ? [`true:  ${plain(finding.truth)}`] : [],
    // Without a request, what the client said explains more than a hint.
    ...requests.length === 0 ? said : [],
    ...hint ? [`hint:  ${hint}`] : [],
    ...requests.length === 0 ? [] : [toExchange(requests), ...said],
  ].join("\n");
}

/** What is likely wrong with an adapter that sent these requests. */
function hintOf(requests: readonly RecordedRequest[]): string | undefined {
  const [first] = requests;
  if (first === undefined) {
    return "no request came: does the adapter read PETSTORE_URL, and does it use no proxy?";
  }
  if (/h2c/i.test(first.headers.upgrade ?? "")) {
    return "the client offers an upgrade to HTTP/2 (h2c): let it use HTTP/1.1";
  }
  if (requests.some(({ status }) => status === 401)) {
    return "send Authorization: Bearer and PETSTORE_KEY";
  }
  if (requests.some(({ status }) => status === 404)) {
    return "PETSTORE_URL ends in /v1, and the paths are /pets and /pets/ID";
  }
  return undefined;
}

/** How many requests of a trial are printed. */
const MOST_SHOWN = 6;
/** The header fields that matter. */
const SHOWN =
  /^(?:content-type|idempotency-key|idempotent-replayed|link|location|retry-after)$/;

/** Writes requests and answers, with ms since the first request, and the faults. */
function toExchange(requests: readonly RecordedRequest[]): string {
  const start = requests[0]?.time ?? 0;
  const isShown = (_request: unknown, i: number): boolean =>
    requests.length <= MOST_SHOWN || i < MOST_SHOWN - 1 ||
    i === requests.length - 1;
  const shown = requests.filter(isShown).map((request) => {
    const { method, target, headers, body, time } = request;
    const { status, responseHeaders, answered, fault } = request;
    const host = headers.host ?? "";
    const to = /^localhost/i.test(host) ? `http://${host}` : "";
    const end = answered === null ? "not ended" : `at ${answered - start} ms`;
    const what = fault ? `, fault ${JSON.stringify(fault)}` : "";
    return [
      quote(
        plain(
          `${method} ${to}${target}, at ${time - start} ms\n${
            fieldsOf(headers)
          }${body ?? ""}`,
        ),
        ">",
      ),
      quote(
        plain(
          `${status ?? "no answer"}, ${end}${what}\n${
            fieldsOf(responseHeaders ?? {})
          }`,
        ),
        "<",
      ),
    ].join("\n");
  });
  if (shown.length < requests.length) {
    shown.splice(-1, 0, `… (${requests.length} requests)`);
  }
  return shown.join("\n");
}

function fieldsOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers).filter(([name]) => SHOWN.test(name))
    .map(([name, value]) => `${name}: ${value}\n`).join("");
}

/** Without characters that could control a terminal, and not too long. */
function plain(text: string): string {
  const short = text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
  return hideKey(short, "\0");
}

function quoteAll(text: string): string {
  return plain(text).split("\n").map((line) => `| ${line}`).join("\n");
}

function indent(text: string): string {
  return `    ${text.replaceAll("\n", "\n    ")}`;
}

/** The cases of JUnit: a trial fails if it has a harm that is not accepted, or is strict. */
export function toTestCases(
  results: readonly Result[],
  isFailure: (finding: Finding, result: Result) => boolean,
): readonly TestCase[] {
  return results.map((result) => {
    const { trial: { title: name, call }, findings, reason } = result;
    const failing = findings.filter((one) => isFailure(one, result));
    const [finding] = failing;
    return {
      className: call,
      name,
      ...reason !== undefined && { skipped: reason },
      ...finding !== undefined && {
        failure: {
          message: failing.map(({ name }) => name).join(", "),
          text: failing.map((finding) => explain({ result, finding }))
            .join("\n\n"),
        },
      },
    };
  });
}

/** The command `judge`: checks any pet store against the contract, clause by clause. */

import process from "node:process";
import {
  APART,
  parseArguments,
  reportAndExit,
  UsageError,
} from "../../adapters/program/command_line.ts";
import { checkRuntime } from "../../core/runtimes.ts";
import { isSendable } from "../../core/keys.ts";
import { readBaseline, reportStale } from "./baseline.ts";
import { isNewFailure, judge, type Report } from "./judge.ts";
import { toJUnit } from "./junit.ts";
import { printer, printSummary, toTestCases } from "./report.ts";
import {
  type ClauseSet,
  DECISIONS,
  describeSet,
  INTERFACE,
  OWN,
  REMOVAL,
  SENTENCES,
} from "./sets.ts";
import { connections } from "./unread.ts";

const COMMAND = `${APART} judge`;

const HELP = `judge: checks any service against the contract of the pet store

Usage:    PETSTORE_KEY=KEY ${COMMAND} ADDRESS [--only CLAUSE] [--category ID] [--baseline FILE] [--json | --junit] [--yes]
Example:  PETSTORE_KEY=secret ${COMMAND} http://localhost:3000/v1

  --key KEY        the API key, instead of PETSTORE_KEY; ps shows it
  --only spec      checks only what the interface says, not the decisions where it is silent
  --only CLAUSE    checks only the clauses that contain this text
  --own            checks also the clauses that a copy of this project added
  --after-removal  expects that getPet is gone, as it will be after 5 December 2030
  --list           prints the clauses and the sets that they are in, and checks nothing
  --category ID    the category of the pets that it adds (default: 1)
  --baseline FILE  clauses on the lines "fails: …" of FILE, such as an earlier report, may fail
  --strict         exits with 1 also if a clause in the baseline no longer fails
  --seed N         generates the same values as a report with this seed
  --json           prints one JSON object at the end: docs/judge.md describes it
  --junit          prints the report as JUnit XML, for CI servers
  --yes            allows an ADDRESS that is not on this machine

It adds a few hundred pets with random names and leaves them: the interface has no delete. The exit
status is 0 if no clause fails that is not in the baseline, 1 if one does, and 2 if the arguments are
wrong.
`;

const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\])$/;

/** Runs the command with the arguments that follow `judge`. */
export async function runJudge(args: readonly string[]): Promise<void> {
  checkRuntime();
  process.stdout.on("error", () => process.exit(1)); // the reader is gone, as after `| head`
  const { values, positionals } = parseArguments(args, {
    key: { type: "string" },
    only: { type: "string" },
    own: { type: "boolean" },
    "after-removal": { type: "boolean" },
    list: { type: "boolean" },
    category: { type: "string" },
    baseline: { type: "string" },
    strict: { type: "boolean" },
    seed: { type: "string" },
    json: { type: "boolean" },
    junit: { type: "boolean" },
    yes: { type: "boolean" },
  }, true);
  const { help, key = process.env.PETSTORE_KEY, only, yes } = values;
  const { json, junit, baseline, strict } = values;
  if (help) return void process.stdout.write(HELP);
  const isAfterRemoval = values["after-removal"] === true;
  const all = [
    INTERFACE,
    ...only === "spec" ? [] : [DECISIONS],
    ...isAfterRemoval && only !== "spec" ? [REMOVAL] : [],
    ...values.own === true ? [OWN] : [],
  ];
  const chosen = choose(only, all);
  const sets = all.filter(({ clauses }) =>
    Object.keys(clauses).some((sentence) => chosen.has(sentence))
  );
  if (values.list === true) return printSets(sets, chosen);
  const [address = "", ...more] = positionals;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const base = url?.href.replace(/\/$/, "") ?? "";
  const problem = address === "" || more.length > 0
    ? "takes one address"
    : url === undefined || !/^https?:$/.test(url.protocol)
    ? "takes a whole http: or https: address, with a port up to 65535"
    : /[@?#]/.test(base)
    ? "takes an address without a user, a query and a fragment"
    : undefined;
  if (url === undefined || problem !== undefined) {
    throw new UsageError(
      `judge ${problem}, such as http://localhost:3000/v1`,
    );
  }
  if (typeof key !== "string" || key === "") {
    throw new UsageError(
      "judge needs an API key of the service: set PETSTORE_KEY, or --key KEY",
    );
  }
  if (!isSendable(key)) {
    throw new UsageError(
      "the API key must be visible ASCII characters without spaces",
    );
  }
  if (json === true && junit === true) {
    throw new UsageError("judge prints --json or --junit, not both");
  }
  if (strict === true && baseline === undefined) {
    throw new UsageError("--strict needs --baseline FILE");
  }
  const categoryId = readCategory(values.category);
  if (!LOOPBACK.test(url.hostname) && yes !== true) {
    throw new UsageError(
      `${url.hostname} is not on this machine, and pets that are added there stay: confirm with --yes`,
    );
  }
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  if (seed !== undefined && !(seed >= 0 && seed < 2 ** 32)) {
    throw new UsageError(`--seed is a number below 2^32, not ${values.seed}`);
  }
  const known = baseline === undefined
    ? new Set<string>()
    : readBaseline(baseline, {
      command: "judge",
      word: "fails",
      known: SENTENCES,
    });
  const close = (): Promise<void> => Promise.resolve();
  const service = {
    ...{ fetch, base, key, categoryId, close, isAfterRemoval },
    ...connections(base),
  };
  const options = {
    sets,
    only: chosen,
    known,
    ...seed !== undefined && { seed },
  };
  const faults = await countFaults(url.origin, key);
  if (faults > 0) {
    console.error(
      `This is a sandbox with ${faults} waiting fault${
        faults === 1 ? "" : "s"
      }, for which clauses may fail. To remove them: DELETE ${url.origin}/sandbox/faults`,
    );
  }
  let report: Report;
  if (json === true || junit === true) {
    report = await judge(service, options);
    console.log(
      json === true
        ? JSON.stringify(report, null, 2)
        : toJUnit(report.address, toTestCases(report)),
    );
  } else {
    console.log(
      `Judging ${base} by ${sets.map(describeSet).join("; ")}.\n` +
        "This adds a few hundred pets with random names and leaves them.\n" +
        "Nobody else should add pets meanwhile.",
    );
    report = await judge(service, { ...options, onVerdict: printer() });
    printSummary(report);
  }
  const stale = report.clauses.filter(({ sentence, outcome }) =>
    outcome === "holds" && known.has(sentence)
  ).map(({ sentence }) => sentence);
  const isStale = reportStale(baseline ?? "", stale);
  if (isStale && strict === true) process.exitCode = 1;
  if (report.clauses.some(isNewFailure)) process.exitCode = 1;
}

/**
 * Returns the sentences to check: the one that is the text, or those that contain it in any case.
 *
 * @throws {UsageError} if none does.
 */
function choose(
  text: string | undefined,
  sets: readonly ClauseSet[],
): ReadonlySet<string> {
  const all = sets.flatMap(({ clauses }) => Object.keys(clauses));
  if (text === undefined || text === "spec") return new Set(all);
  const has = (sentence: string) =>
    sentence.toLowerCase().includes(text.toLowerCase());
  const found = all.includes(text) ? [text] : all.filter(has);
  if (found.length > 0) return new Set(found);
  throw new UsageError(
    `--only can be spec, or (part of) a clause that --list prints, not ${text}`,
  );
}

/** Counts the faults that wait in a store that is our sandbox; 0 if it is another one. */
async function countFaults(origin: string, key: string): Promise<number> {
  try {
    const headers = { authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(1000);
    const init: RequestInit = { headers, signal, redirect: "error" };
    const answer = await fetch(`${origin}/sandbox`, init);
    const { faults } = await answer.json();
    return Array.isArray(faults) ? faults.length : 0;
  } catch {
    return 0;
  }
}

function printSets(
  sets: readonly ClauseSet[],
  chosen: ReadonlySet<string>,
): void {
  for (const set of sets) {
    const sentences = Object.keys(set.clauses).filter((one) => chosen.has(one));
    console.log(`${describeSet(set)}:\n`);
    for (const sentence of sentences) console.log(sentence);
    console.log("");
  }
}

function readCategory(text: string | boolean = "1"): bigint {
  const id = /^-?\d{1,19}$/.test(`${text}`) ? BigInt(text) : undefined;
  if (id !== undefined && id === BigInt.asIntN(64, id)) return id;
  throw new UsageError(`--category is an int64, not ${text}`);
}

if (import.meta.main) runJudge(process.argv.slice(2)).catch(reportAndExit);

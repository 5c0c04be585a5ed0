/** The command `judge`: checks any pet store against the contract, clause by clause. */

import process from "node:process";
import {
  APART,
  parseArguments,
  readUtf8,
  reportAndExit,
  UsageError,
} from "../../adapters/standalone/command_line.ts";
import { checkRuntime } from "../../core/json.ts";
import { isSendable } from "../../core/keys/api_keys.ts";
import {
  isNewFailure,
  judge,
  type Report,
  SENTENCES,
  type Verdict,
} from "./judge.ts";
import { toJUnit } from "./junit.ts";

const COMMAND = `${APART} judge`;

const HELP = `judge: checks any service against the contract of the pet store

Usage:    PETSTORE_KEY=KEY ${COMMAND} ADDRESS [--only spec] [--category ID] [--baseline FILE] [--json | --junit] [--yes]
Example:  PETSTORE_KEY=secret ${COMMAND} http://localhost:3000/v1

  --key KEY        the API key, instead of PETSTORE_KEY; ps shows it
  --only spec      checks only what the interface says, not the decisions where it is silent
  --category ID    the category of the pets that it adds (default: 1)
  --baseline FILE  clauses on the lines "fails: …" of FILE, such as an earlier report, may fail
  --seed N         generates the same values as a report with this seed
  --json           prints one JSON object at the end: docs/judge.md describes it
  --junit          prints the report as JUnit XML, for CI servers
  --yes            allows an ADDRESS that is not on this machine

It adds a few hundred pets with random names and leaves them: the interface has no delete. The exit
status is 0 if no clause fails that is not in the baseline, 1 if one does, and 2 if the arguments are
wrong.
`;

const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\])$/;

const HEADINGS = {
  interface: "The interface",
  decision: "Decisions where the interface is silent",
};

/** Runs the command with the arguments that follow `judge`. */
export async function runJudge(args: readonly string[]): Promise<void> {
  checkRuntime();
  process.stdout.on("error", () => process.exit(1)); // the reader is gone, as after `| head`
  const { values, positionals } = parseArguments(args, {
    key: { type: "string" },
    only: { type: "string" },
    category: { type: "string" },
    baseline: { type: "string" },
    seed: { type: "string" },
    json: { type: "boolean" },
    junit: { type: "boolean" },
    yes: { type: "boolean" },
  }, true);
  const { help, key = process.env.PETSTORE_KEY, only, yes } = values;
  const { json, junit, baseline } = values;
  if (help) return void process.stdout.write(HELP);
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
  if (only !== undefined && only !== "spec") {
    throw new UsageError(`--only can be spec, not ${only}`);
  }
  if (json === true && junit === true) {
    throw new UsageError("judge prints --json or --junit, not both");
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
    : readBaseline(baseline);
  const close = (): Promise<void> => Promise.resolve();
  const service = { fetch, base, key, categoryId, close };
  const options = {
    isInterfaceOnly: only === "spec",
    known,
    ...seed !== undefined && { seed },
  };
  let report: Report;
  if (json === true || junit === true) {
    report = await judge(service, options);
    console.log(
      json === true ? JSON.stringify(report, null, 2) : toJUnit(report),
    );
  } else {
    console.log(
      `Judging ${base}. This adds a few hundred pets with random names and leaves them.\n` +
        "Nobody else should add pets meanwhile.",
    );
    report = await judge(service, { ...options, onVerdict: printer() });
    printSummary(report);
  }
  for (const { sentence, outcome } of report.clauses) {
    if (outcome === "holds" && known.has(sentence)) {
      console.error(
        `No longer fails, so remove it from ${baseline}: ${sentence}`,
      );
    }
  }
  if (report.clauses.some(isNewFailure)) process.exitCode = 1;
}

/** Reads which clauses fail in a report, or in what is left of one. */
function readBaseline(file: string): ReadonlySet<string> {
  let text;
  try {
    text = readUtf8(file);
  } catch (cause) {
    throw new UsageError(
      `Cannot read the baseline ${file}: ${(cause as Error).message}`,
    );
  }
  const lines = text.matchAll(/^fails: (.*?)\r?$/gm);
  const known = new Set(Array.from(lines, ([, sentence = ""]) => sentence));
  // A text without such lines accepts nothing.
  if (known.size === 0 && /^\s*[{<]/.test(text)) {
    throw new UsageError(
      `${file} is JSON or XML: give a report that judge printed without --json and --junit`,
    );
  }
  for (const sentence of known) {
    if (SENTENCES.has(sentence)) continue;
    throw new UsageError(
      `${file} has a clause that judge does not have: ${sentence}`,
    );
  }
  return known;
}

function readCategory(text: string | boolean = "1"): bigint {
  const id = /^-?\d{1,19}$/.test(`${text}`) ? BigInt(text) : undefined;
  if (id !== undefined && id === BigInt.asIntN(64, id)) return id;
  throw new UsageError(`--category is an int64, not ${text}`);
}

/** Prints each verdict, below the heading of its source. */
function printer(): (verdict: Verdict) => void {
  let last = "";
  return ({ sentence, source, outcome, reason = "", says, ...more }) => {
    if (source !== last) console.log(`\n${HEADINGS[source]}:\n`);
    last = source;
    if (outcome === "holds") console.log(`holds: ${sentence}`);
    else if (outcome === "unchecked") {
      console.log(`cannot be checked from outside: ${sentence} (${reason})`);
    } else if (more.known) {
      console.log(
        `fails: ${sentence}\n    as in the baseline: ${
          more.because ?? reason
        }\n`,
      );
    } else if (more.because !== undefined) {
      console.log(`fails: ${sentence}\n    because of: ${more.because}\n`);
    } else {
      const cited = says === undefined ? "" : `\nThe interface: ${says}`;
      const shown = `${reason}${cited}\n${more.exchange ?? ""}`.trimEnd();
      console.log(
        `fails: ${sentence}\n    ${shown.replaceAll("\n", "\n    ")}\n`,
      );
    }
  };
}

function printSummary({ clauses, fixFirst, petsAdded, seed }: Report): void {
  console.log("");
  for (const source of ["interface", "decision"] as const) {
    const outcomes = clauses.filter((verdict) => verdict.source === source)
      .map(({ outcome }) => outcome);
    if (outcomes.length === 0) continue;
    const [holds, fails, unchecked] = (["holds", "fails", "unchecked"] as const)
      .map((one) => outcomes.filter((outcome) => outcome === one).length);
    console.log(
      `${
        HEADINGS[source]
      }: ${holds} hold, ${fails} fail, ${unchecked} cannot be checked from outside.`,
    );
  }
  const known = clauses.filter((verdict) => verdict.known).length;
  if (known > 0) console.log(`In the baseline: ${known} of those that fail.`);
  if (fixFirst !== null) console.log(`Fix first: ${fixFirst}`);
  const added = petsAdded === 0
    ? "No create succeeded."
    : `At least ${petsAdded} pets were added.`;
  console.log(`${added} Seed: ${seed}`);
}

if (import.meta.main) runJudge(process.argv.slice(2)).catch(reportAndExit);

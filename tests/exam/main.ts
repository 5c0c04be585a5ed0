/** The command `exam`: gives a client of the pet store its trials, and says what harm it does. */

import { availableParallelism } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import {
  APART,
  parseArguments,
  reportAndExit,
  UsageError,
} from "../../adapters/program/command_line.ts";
import { check, integer, readHost } from "../../adapters/program/values.ts";
import { checkRuntime } from "../../core/runtimes.ts";
import { readBaseline, reportStale } from "../judge/baseline.ts";
import { toJUnit } from "../judge/junit.ts";
import { runnerOf } from "./command.ts";
import { examineGateway, NotExamined } from "./through.ts";
import { GATEWAY_TRIALS } from "./gateway_trials.ts";
import { examine, limitsOf, NotReady, type Result, SILENCE } from "./exam.ts";
import {
  KNOWN_HARMS,
  nameOf,
  toAdvice,
  toDoubt,
  toReport,
  toTestCases,
  toText,
} from "./report.ts";
import { chooseTrials, type Trial, TRIALS } from "./trial.ts";
import type { Finding } from "./verdict.ts";
import { CLIENT_TIMEOUT } from "./world.ts";

const COMMAND = `${APART} exam`;

const HELP =
  `exam: examines a client of the pet store: does it harm its caller when the network, a gateway or the service fails?

Usage:    ${COMMAND} [--only TRIAL] [--baseline FILE] [--json | --junit] -- COMMAND
          ${COMMAND} --through ADDRESS --port PORT [--host HOST]
Example:  ${COMMAND} -- python3 adapter.py

  --only TRIAL         only the trials of this call, or with this text in their title; may be repeated
  --list               prints the trials, and what each can show, and runs nothing
  --baseline FILE      harms on the lines "harm: …" of FILE, such as an earlier report, are accepted
  --strict             exits with 1 also for advice, and for a line of the baseline that no longer holds
  --json               prints one JSON object at the end: docs/exam.md describes it
  --junit              prints the report as JUnit XML, for CI servers
  --client-timeout MS  the time limit that the client is told, in ms (1000)
  --timeout S          ends a client after so many seconds in which nothing happens (20); it has 60 or
                       more for its first request
  --jobs N             how many trials there are at once (one for each core)
  --through ADDRESS    examines a gateway instead: the exam sends requests to ADDRESS, which ends in /v1,
  --port PORT          and is itself the pet store behind the gateway, on this port
  --host HOST          and on this address (127.0.0.1)

COMMAND runs once for each call. It reads what to do from PETSTORE_ variables, and tells by its exit
status and standard output what its caller is told: docs/exam.md describes both. The exit status is 0
if the client does no harm, 1 if it does, and 2 if the arguments are wrong, the client already fails
without a fault, or in more than a tenth of the trials no request met the fault.
`;

const OPTIONS = {
  only: { type: "string", multiple: true },
  list: { type: "boolean" },
  baseline: { type: "string" },
  strict: { type: "boolean" },
  json: { type: "boolean" },
  junit: { type: "boolean" },
  "client-timeout": { type: "string", default: `${CLIENT_TIMEOUT}` },
  timeout: { type: "string", default: `${SILENCE / 1000}` },
  jobs: { type: "string" },
  through: { type: "string" },
  port: { type: "string" },
  host: { type: "string", default: "127.0.0.1" },
} as const;

/** Runs the command with the arguments that follow `exam`. */
export async function runExam(args: readonly string[]): Promise<void> {
  checkRuntime();
  process.stdout.on("error", () => process.exit(1)); // the reader is gone, as after `| head`
  const { own, command } = splitArguments(args);
  const { values } = parseArguments(own, OPTIONS);
  const { help, list, json, junit, strict = false, baseline } = values;
  if (help) return void process.stdout.write(HELP);
  const { only = [], through } = values;
  const choose = <T extends Trial>(all: readonly T[]): readonly T[] =>
    only.length === 0
      ? all
      : check("--only", () => chooseTrials(only, all), UsageError);
  const gatewayTrials = through === undefined ? [] : choose(GATEWAY_TRIALS);
  const trials = through === undefined ? choose(TRIALS) : gatewayTrials;
  if (list) return printList(trials);
  if (through === undefined && command.length === 0) {
    throw new UsageError(
      `exam needs the command of your client, such as ${COMMAND} -- python3 adapter.py`,
    );
  }
  if (through !== undefined && command.length > 0) {
    throw new UsageError("exam --through needs no command: it is the client");
  }
  if (json && junit) {
    throw new UsageError("exam prints --json or --junit, not both");
  }
  const number = (
    name: "client-timeout" | "timeout" | "jobs" | "port",
    max: number,
    usual = availableParallelism(),
  ): number =>
    check(
      `--${name}`,
      () => integer(max, 1)(values[name] ?? `${usual}`),
      UsageError,
    );
  const silence = number("timeout", 3600) * 1000;
  const clientTimeout = number("client-timeout", 60_000);
  const jobs = number("jobs", 1000);
  if (through !== undefined && values.port === undefined) {
    throw new UsageError(
      "exam --through needs --port PORT, to which the gateway forwards",
    );
  }
  const port = number("port", 65_535, 1);
  const hostname = check("--host", () => readHost(values.host), UsageError);
  const accepted = baseline === undefined ? new Set<string>() : readBaseline(
    baseline,
    { command: "exam", word: "harm", known: KNOWN_HARMS },
  );

  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("Interrupted"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, interrupt);
  }
  const progress = progressLine(trials.length);
  let results;
  try {
    const { signal } = interruption;
    const common = { signal, onResult: progress.next };
    results = through === undefined
      ? await examine({
        ...common,
        run: runnerOf(command),
        trials,
        clientTimeout,
        limits: limitsOf(silence),
        jobs,
      })
      : await examineGateway(readAddress(through), {
        ...common,
        trials: gatewayTrials,
        port,
        hostname,
      });
  } catch (cause) {
    const { aborted } = interruption.signal;
    const message = aborted
      ? "Interrupted"
      : cause instanceof NotReady
      ? toAdvice(cause.result)
      : cause instanceof NotExamined
      ? cause.message
      : undefined;
    if (message === undefined) throw cause;
    process.stderr.write(`${message}\n`);
    process.exitCode = aborted ? 130 : 2;
    return;
  } finally {
    progress.end();
  }
  const isNew = ({ name, isHarm }: Finding, { trial }: Result): boolean =>
    isHarm ? !accepted.has(nameOf(name, trial)) : strict;
  console.log(
    json
      ? JSON.stringify(toReport(results, accepted), null, 2)
      : junit
      ? toJUnit(through ?? command.join(" "), toTestCases(results, isNew))
      : toText(results, accepted),
  );
  const isStale = baseline !== undefined &&
    reportStale(baseline, staleLines(accepted, results));
  const fails = results.some((result) =>
    result.findings.some((finding) => isNew(finding, result))
  );
  if (fails || strict && isStale) process.exitCode = 1;
  const doubt = toDoubt(results);
  if (doubt === undefined) return;
  process.stderr.write(`${doubt}\n`);
  process.exitCode = 2;
}

/** @throws {UsageError} if it is not the address of a gateway. */
function readAddress(text: string): string {
  const address = text.replace(/\/$/, "");
  const url = URL.parse(address);
  if (url && /^https?:$/.test(url.protocol) && !/[@?#]/.test(address)) {
    return address;
  }
  throw new UsageError(
    `--through takes the gateway's address, such as http://localhost:8080/v1, not ${text}`,
  );
}

/** Lines of the baseline whose trials were run and no longer show the harm. */
function staleLines(
  accepted: ReadonlySet<string>,
  results: readonly Result[],
): readonly string[] {
  return results.filter(({ verdict }) => verdict !== "skipped").flatMap(
    ({ trial, findings }) =>
      [...accepted].filter((line) =>
        line.endsWith(`: ${trial.title}`) &&
        !findings.some(({ name, isHarm }) =>
          isHarm && nameOf(name, trial) === line
        )
      ),
  );
}

/** Splits arguments into those of the exam and the client's command, with or without `--`. */
function splitArguments(args: readonly string[]) {
  const config = {
    options: { ...OPTIONS, help: { type: "boolean", short: "h" } },
  } as const;
  const { tokens } = parseArgs({
    ...config,
    args: [...args],
    strict: false,
    tokens: true,
  });
  const end = tokens.find(({ kind }) => kind !== "option");
  const at = end?.index ?? args.length;
  const skipped = end?.kind === "option-terminator" ? 1 : 0;
  return { own: args.slice(0, at), command: args.slice(at + skipped) };
}

function printList(trials: readonly Trial[]): void {
  for (const { call, title, harms, provokedBy } of trials) {
    console.log(
      `${call}: ${title}\n    by: ${provokedBy}; harm: ${
        harms.join(", ") || "none"
      }`,
    );
  }
}

/** Shows on a terminal how far the exam is. */
function progressLine(total: number) {
  const { stderr } = process;
  let done = 0;
  const write = (text: string): void => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${text}`);
  };
  write(`0 of ${total} trials`);
  return {
    next: () => write(`${++done} of ${total} trials`),
    end: () => write(""),
  };
}

if (import.meta.main) runExam(process.argv.slice(2)).catch(reportAndExit);

/**
 * Examines a client of the pet store, in any language: does it harm its caller when an answer is
 * lost, late, cut or not the service's? Each trial has a store of its own.
 *
 * @module
 */

import {
  checkFunction,
  checkIntegers,
  checkNames,
} from "../../core/options.ts";
import { type Runner, runnerOf } from "./command.ts";
import { examine, limitsOf, NotReady, SILENCE } from "./exam.ts";
import { type ExamReport, toAdvice, toReport } from "./report.ts";
import { chooseTrials, TRIALS } from "./trial.ts";
import { CLIENT_TIMEOUT } from "./world.ts";

export type { Ended, Runner } from "./command.ts";
export type { ExaminedTrial, ExamReport, FindingDetail } from "./report.ts";
export type { Advice, Call, GatewayFinding, Harm } from "./trial.ts";

/** Settings of {@linkcode exam}. It needs `command` or `run`. */
export interface ExamOptions {
  /** The client's program and its arguments. */
  readonly command?: readonly string[];
  /** Runs the client in process instead: it returns what the program would print. */
  readonly run?: Runner;
  /** Only the trials of these calls, or with one of these texts in their title. Default: all. */
  readonly only?: readonly string[];
  /** The time limit that the client is told, in ms. Default: 1000. */
  readonly clientTimeout?: number;
  /** A client is ended after this time in which nothing happens, in ms. Default: 20000. */
  readonly timeout?: number;
  /** How many trials there are at once. Default: 1. */
  readonly jobs?: number;
  /** Ends the exam, and the client. */
  readonly signal?: AbortSignal;
}

/**
 * Examines a client.
 *
 * @param options how to run the client, and which trials it has.
 * @returns the verdict of each trial. It does not reject if the client does harm.
 *
 * @example A client in process
 * ```ts
 * import { createClient, petToJson } from "@petstore/service/client";
 * import { exam } from "@petstore/service/exam";
 * import assert from "node:assert/strict";
 *
 * const report = await exam({
 *   only: ["the answer to a create is lost"],
 *   async run({ PETSTORE_URL: baseUrl = "", PETSTORE_KEY: key = "", PETSTORE_PET = "" }) {
 *     const client = createClient({ baseUrl, key });
 *     const { name, categoryId, status } = JSON.parse(PETSTORE_PET); // small numbers in this trial
 *     const pet = await client.createPet({ name, categoryId: BigInt(categoryId), status });
 *     return { code: 0, output: petToJson(pet) };
 *   },
 * });
 * assert.deepEqual(report.trials[0]?.findings, []);
 * ```
 * @throws {TypeError} if an option is unknown, missing or wrong.
 * @throws {RangeError} if a number is out of bounds, or `only` fits no trial.
 * @throws {Error} if a call fails without a fault: the message says what was wrong.
 */
export async function exam(options: ExamOptions): Promise<ExamReport> {
  checkNames(options, NAMES, "exam");
  const { command, only = [], signal } = options;
  const { clientTimeout = CLIENT_TIMEOUT, timeout = SILENCE, jobs = 1 } =
    options;
  if ((command === undefined) === (options.run === undefined)) {
    throw new TypeError("exam needs one of the options command and run");
  }
  checkIntegers({ clientTimeout }, 1, 60_000);
  checkIntegers({ timeout }, 1, 3_600_000);
  checkIntegers({ jobs }, 1, 1000);
  const run = options.run ?? runnerOf(command ?? []);
  checkFunction(run, "run");
  const trials = only.length === 0 ? TRIALS : chooseTrials(only, TRIALS);
  try {
    return toReport(
      await examine({
        ...{ run, trials, clientTimeout, limits: limitsOf(timeout), jobs },
        ...signal && { signal },
      }),
    );
  } catch (cause) {
    if (cause instanceof NotReady) throw new Error(toAdvice(cause.result));
    throw cause;
  }
}

const NAMES: readonly string[] = [
  "command",
  "run",
  "only",
  "clientTimeout",
  "timeout",
  "jobs",
  "signal",
];

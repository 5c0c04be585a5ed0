/**
 * Checks any pet store, in any language, against the contract: all at once, as a report, or clause
 * by clause, as tests of a test runner. The checks add hundreds of pets and leave them, because the
 * interface has no delete.
 *
 * @module
 */

import { readOptions } from "../../adapters/client/options.ts";
import { isInt64 } from "../../core/int64.ts";
import { checkIntegers, checkNames } from "../../core/options.ts";
import type { OpenService } from "../contract/ask.ts";
import { newSeed } from "../contract/pets_client.ts";
import {
  findMark,
  judge as judgeService,
  judgeClause,
  PATIENCE,
  type Report,
  type Verdict,
  withPatience,
} from "./judge.ts";
import { DECISIONS, INTERFACE, REMOVAL } from "./sets.ts";
import { connections } from "./unread.ts";

export type { Report, Verdict } from "./judge.ts";

/** The pet store to check. */
export interface ServiceOptions {
  /** The base address of the service, such as `http://localhost:3000/v1`. */
  readonly baseUrl: string;
  /** A key that the service accepts. */
  readonly key: string;
  /** A category that its pets may have. Default: 1. */
  readonly categoryId?: bigint;
  /** Sends the requests, for example a handler in process. Default: the global `fetch`. */
  readonly fetch?: (
    request: Request,
    init?: RequestInit,
  ) => Response | Promise<Response>;
  /**
   * If true, expects that `getPet` is gone, as it will be after 5 December 2030; pets are then found
   * by the list. Default: false.
   */
  readonly afterRemoval?: boolean;
  /** The time limit for an answer, in ms. Default: 10000. */
  readonly timeout?: number;
}

/** Settings of {@linkcode judge}. */
export interface JudgeOptions extends ServiceOptions {
  /**
   * If true, checks only what the interface says, not the decisions where it is silent. Default:
   * false.
   */
  readonly onlyInterface?: boolean;
  /** The seed of the generated values, as in a report: 0 to 2³² − 1. Default: random. */
  readonly seed?: number;
  /** Called with each outcome as soon as it is known. */
  readonly onVerdict?: (verdict: Verdict) => void;
}

/** Settings of {@linkcode interfaceContract}. */
export interface InterfaceContractOptions extends ServiceOptions {
  /**
   * Registers a test: `it` of `node:test`, `bun:test` or Vitest, or `Deno.test`. The tests must run
   * one after the other.
   */
  readonly it: (title: string, check: () => Promise<void>) => unknown;
}

const SERVICE = [
  ...["baseUrl", "key", "categoryId", "afterRemoval", "fetch", "timeout"],
];

/**
 * Checks a pet store against every clause, the most harmful first.
 *
 * @param options where the service is, and what to check.
 * @returns the outcome of each clause. It does not reject if clauses fail.
 *
 * @example A correct store, and one that is not there
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { judge } from "@petstore/service/judge";
 * import assert from "node:assert/strict";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const store = { baseUrl: "http://localhost/v1", key: "secret", onlyInterface: true };
 * const { clauses } = await judge({ ...store, fetch: handle });
 * assert.ok(clauses.every(({ outcome }) => outcome === "holds"));
 *
 * const nothing = () => new Response(null, { status: 404 });
 * const report = await judge({ ...store, fetch: nothing });
 * assert.match(`${report.fixFirst}`, /is the address right/);
 * ```
 * @throws {TypeError} if an option is unknown, missing or wrong.
 * @throws {RangeError} if a number is out of bounds.
 */
export async function judge(options: JudgeOptions): Promise<Report> {
  const own = ["onlyInterface", "seed", "onVerdict"];
  checkNames(options, [...SERVICE, ...own], "judge");
  const { onlyInterface = false, timeout = PATIENCE } = options;
  const { seed = newSeed(), onVerdict } = options;
  checkIntegers({ seed }, 0, 2 ** 32 - 1);
  return await judgeService(serviceOf(options), {
    sets: onlyInterface
      ? [INTERFACE]
      : [INTERFACE, DECISIONS, ...options.afterRemoval ? [REMOVAL] : []],
    patience: timeout,
    seed,
    ...onVerdict !== undefined && { onVerdict },
  });
}

/**
 * Registers a test for each clause of the interface. A test passes if its clause cannot be checked
 * from outside.
 *
 * @param options where the service is, and how to register a test.
 *
 * @example Without a test runner
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { interfaceContract } from "@petstore/service/judge";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * const checks: (() => Promise<void>)[] = [];
 * interfaceContract({
 *   it: (_title, check) => checks.push(check),
 *   baseUrl: "http://localhost/v1",
 *   key: "secret",
 *   fetch: handle,
 * });
 * for (const check of checks) await check();
 * ```
 * @throws {TypeError} if an option is unknown, missing or wrong.
 * @throws {RangeError} if `timeout` is out of bounds.
 */
export function interfaceContract(options: InterfaceContractOptions): void {
  checkNames(options, ["it", ...SERVICE], "interfaceContract");
  const { it, timeout = PATIENCE } = options;
  const service = serviceOf(options);
  const fetch = withPatience(service.fetch, timeout);
  let opened: Promise<OpenService> | undefined;
  const open = async (): Promise<OpenService> => {
    const patient = { ...service, fetch };
    return { ...patient, ...await findMark(patient) };
  };
  for (const [title, clause] of Object.entries(INTERFACE.clauses)) {
    it(title, async () => {
      const found = await judgeClause(clause, await (opened ??= open()));
      if (found.outcome !== "fails") return;
      const { reason, says, exchange } = found;
      throw new Error([reason, says, exchange].filter(Boolean).join("\n"));
    });
  }
}

function serviceOf(options: ServiceOptions): OpenService {
  const { baseUrl, key, categoryId, afterRemoval = false } = options;
  const { fetch = globalThis.fetch, timeout = PATIENCE } = options;
  const { base } = readOptions({ baseUrl, key, fetch, timeout });
  // A number would be sent as it is, and the store blamed for what it answers.
  if (categoryId !== undefined && !isInt64(categoryId)) {
    throw new TypeError(
      "Wrong option categoryId: it must be an int64 as a bigint, such as 7n",
    );
  }
  return {
    fetch: async (request, init) => await fetch(request, init),
    ...options.fetch === undefined && connections(base),
    base,
    key,
    isAfterRemoval: afterRemoval,
    ...categoryId !== undefined && { categoryId },
    close: async () => {},
  };
}

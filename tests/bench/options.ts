/**
 * The options of `deno task bench`.
 *
 * @module
 */

import { parseArgs } from "node:util";

/** The runtimes that a server can be measured on. */
export const RUNTIMES = ["deno", "bun", "node"] as const;

/** A runtime that a server can be measured on. */
export type RuntimeName = typeof RUNTIMES[number];

/** How much is measured. */
export interface BenchOptions {
  /** How often everything has its turn. */
  readonly rounds: number;
  /** How long a turn is, in seconds. */
  readonly seconds: number;
  /** Nothing is measured: it only shows that all runs. */
  readonly quick: boolean;
  readonly runtimes: readonly RuntimeName[];
  /** Of the part `http`: the cases to measure. Default: all. */
  readonly cases?: readonly string[];
  /** Of the part `http`: the contestants to measure. Default: all. */
  readonly contestants?: readonly string[];
}

/** What the command line asks for. */
export interface Command {
  readonly parts: readonly string[];
  readonly options: BenchOptions;
  readonly json: boolean;
  readonly help: boolean;
}

/** An option or a value that the bench does not know. */
export class UsageError extends Error {}

const DEFAULT_ROUNDS = 11;
const DEFAULT_SECONDS = 0.5;
const QUICK_SECONDS = 0.2;

/**
 * Reads the command line.
 *
 * @throws {UsageError} where it names what is not there.
 */
export function parseCommand(
  args: readonly string[],
  parts: readonly string[],
): Command {
  const { values, positionals } = parse(args);
  const { quick, json, help } = values;
  const options: BenchOptions = {
    rounds: quick ? 1 : readRounds(values.rounds),
    seconds: quick ? QUICK_SECONDS : readSeconds(values.seconds),
    quick,
    runtimes: readNames(values.runtime, RUNTIMES, "runtime") ?? RUNTIMES,
    ...withoutUndefined({
      cases: split(values.case),
      contestants: split(values.contestant),
    }),
  };
  const named = positionals.map((part) => checkName(part, parts, "part"));
  const isOfHttp = options.cases !== undefined ||
    options.contestants !== undefined;
  if (isOfHttp && named.some((part) => part !== "http")) {
    throw new UsageError("--case and --contestant are options of http alone");
  }
  const chosen = named.length > 0 ? named : isOfHttp ? ["http"] : parts;
  return { parts: chosen, options, json, help };
}

/**
 * Checks that a name is one of those there are.
 *
 * @throws {UsageError} where it is not.
 */
export function checkName<T extends string>(
  name: string,
  names: readonly T[],
  kind: string,
): T {
  const found = names.find((known) => known === name);
  if (found !== undefined) return found;
  throw new UsageError(
    `There is no ${kind} ${JSON.stringify(name)}: choose from ${
      names.join(", ")
    }`,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: "string" },
        seconds: { type: "string" },
        runtime: { type: "string" },
        case: { type: "string" },
        contestant: { type: "string" },
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (cause) {
    throw new UsageError(
      cause instanceof Error ? cause.message : String(cause),
    );
  }
}

function readRounds(text: string | undefined): number {
  if (text === undefined) return DEFAULT_ROUNDS;
  if (/^[1-9][0-9]{0,2}$/.test(text)) return Number(text);
  throw new UsageError(
    `--rounds must be an integer from 1 to 999, not ${JSON.stringify(text)}`,
  );
}

function readSeconds(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SECONDS;
  const seconds = Number(text);
  if (/^[0-9.]+$/.test(text) && seconds >= 0.2 && seconds <= 60) return seconds;
  throw new UsageError(
    `--seconds must be a number from 0.2 to 60, not ${JSON.stringify(text)}`,
  );
}

function readNames<T extends string>(
  list: string | undefined,
  names: readonly T[],
  kind: string,
): readonly T[] | undefined {
  return split(list)?.map((name) => checkName(name, names, kind));
}

function split(list: string | undefined): readonly string[] | undefined {
  return list?.split(",").map((name) => name.trim());
}

function withoutUndefined<T extends object>(
  object: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

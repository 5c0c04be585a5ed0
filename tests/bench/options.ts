/**
 * The options of `deno task bench`.
 */

import { parseArgs } from "node:util";
import { type RuntimeName, RUNTIMES } from "./runtimes.ts";

/** What is measured, and how long. */
export interface BenchOptions {
  readonly parts: readonly string[];
  readonly runtimes: readonly RuntimeName[];
  /** Of the part `http`: all when absent; and more contestants, as `NAME=PATH`. */
  readonly cases: readonly string[] | undefined;
  readonly contestants: readonly string[] | undefined;
  readonly programs: readonly string[];
  /** How often everything has its turn, and how long that is. */
  readonly rounds: number;
  readonly seconds: number;
  /** Nothing is measured: it only shows that all runs. */
  readonly quick: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

/** Reads the command line. */
export function parseOptions(
  args: readonly string[],
  parts: readonly string[],
): BenchOptions {
  const list = { type: "string", multiple: true } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ runtime: list, case: list, contestant: list, program: list },
      ...{ quick: flag, json: flag, help: flag },
      rounds: { type: "string", default: "7" },
      seconds: { type: "string", default: "0.5" },
    },
  });
  const { rounds, seconds, program = [], ...rest } = values;
  const split = (lists?: string[]) => lists?.flatMap((list) => list.split(","));
  return {
    ...rest,
    parts: choose(parts, positionals.length > 0 ? positionals : undefined),
    runtimes: choose(RUNTIMES, split(rest.runtime)),
    cases: split(rest.case),
    contestants: split(rest.contestant),
    programs: program,
    rounds: rest.quick ? 1 : Number(rounds),
    seconds: rest.quick ? 0.02 : Number(seconds),
  };
}

/** Those of some names that were asked for, or all; throws when one is not among them. */
export function choose<T extends string>(
  names: readonly T[],
  wanted: readonly string[] = names,
): readonly T[] {
  const known = new Set<string>(names);
  const unknown = wanted.find((name) => !known.has(name));
  if (unknown === undefined) return names.filter((n) => wanted.includes(n));
  throw new TypeError(`${unknown} is none of ${names.join(", ")}`);
}

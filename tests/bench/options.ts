/**
 * The options of `deno task bench`.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type RuntimeName, RUNTIMES } from "./runtimes.ts";

/** What is measured, and how long. */
export interface BenchOptions {
  /** How often everything has its turn. */
  readonly rounds: number;
  /** How long a turn is. */
  readonly seconds: number;
  /** Nothing is measured: it only shows that all runs. */
  readonly quick: boolean;
  readonly runtimes: readonly RuntimeName[];
  /** Of the part `http`: the cases; all when absent. */
  readonly cases: readonly string[] | undefined;
  /** Of the part `http`: the contestants; all when absent. */
  readonly contestants: readonly string[] | undefined;
  /** Of the part `http`: more contestants, as `NAME=PATH`. */
  readonly programs: readonly string[];
}

/** What the command line asks for. */
export interface Command {
  readonly parts: readonly string[];
  readonly options: BenchOptions;
  readonly json: boolean;
  readonly help: boolean;
}

/**
 * Reads the command line.
 *
 * @throws {TypeError} when it asks for something unknown.
 */
export function parseCommand(
  args: readonly string[],
  parts: readonly string[],
): Command {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "7" },
      seconds: { type: "string", default: "0.5" },
      runtime: { type: "string" },
      case: { type: "string" },
      contestant: { type: "string" },
      program: { type: "string", multiple: true, default: [] },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const { quick, json, help } = values;
  const options: BenchOptions = {
    rounds: quick ? 1 : readNumber("rounds", values.rounds),
    seconds: quick ? 0.02 : readNumber("seconds", values.seconds),
    quick,
    runtimes: choose(RUNTIMES, split(values.runtime), "runtime"),
    cases: split(values.case),
    contestants: split(values.contestant),
    programs: values.program,
  };
  const given = positionals.length > 0 ? positionals : undefined;
  return { parts: choose(parts, given, "part"), options, json, help };
}

/**
 * Those of some names that were asked for, or all.
 *
 * @throws {TypeError} when one that was asked for is not among them.
 */
export function choose<T extends string>(
  names: readonly T[],
  wanted: readonly string[] | undefined,
  kind: string,
): readonly T[] {
  const known: readonly string[] = names;
  const unknown = wanted?.find((name) => !known.includes(name));
  if (unknown === undefined) {
    return names.filter((name) => wanted?.includes(name) ?? true);
  }
  const all = names.join(", ");
  throw new TypeError(`Unknown ${kind} ${unknown}: choose from ${all}`);
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value < 1000) return value;
  throw new TypeError(`--${name} takes a number above 0, not ${text}`);
}

function split(list: string | undefined): readonly string[] | undefined {
  return list?.split(",");
}

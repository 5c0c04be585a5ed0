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
  /** Of the part `http`: more contestants, by name, each a file that every runtime can run. */
  readonly programs: Readonly<Record<string, string>>;
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

/**
 * Reads the command line.
 *
 * @throws {UsageError} when it asks for something unknown.
 */
export function parseCommand(
  args: readonly string[],
  parts: readonly string[],
): Command {
  const { values, positionals } = parse(args);
  const { quick, json, help } = values;
  const cases = split(values.case);
  const contestants = split(values.contestant);
  const programs = Object.fromEntries(values.program.map(readProgram));
  const runtimes = split(values.runtime) ?? RUNTIMES;
  const isOfHttp = cases ?? contestants ?? values.program[0];
  const rest = isOfHttp === undefined ? parts : ["http"];
  return {
    parts: positionals.length > 0
      ? positionals.map((name) => choose(name, parts, "part"))
      : rest,
    options: {
      rounds: quick ? 1 : readNumber("rounds", values.rounds, 1, 999),
      seconds: quick ? 0.02 : readNumber("seconds", values.seconds, 0.1, 60),
      quick,
      runtimes: runtimes.map((name) => choose(name, RUNTIMES, "runtime")),
      cases,
      contestants,
      programs,
    },
    json,
    help,
  };
}

/**
 * Finds a name among those that are known.
 *
 * @throws {UsageError} when it is not among them.
 */
export function choose<T extends string>(
  name: string,
  names: readonly T[],
  kind: string,
): T {
  const found = names.find((known) => known === name);
  if (found !== undefined) return found;
  throw new UsageError(
    `Unknown ${kind} ${JSON.stringify(name)}: choose from ${names.join(", ")}`,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
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
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : `${cause}`);
  }
}

function readNumber(
  name: string,
  text: string,
  least: number,
  most: number,
): number {
  const value = Number(text);
  if (/^[0-9.]+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`--${name} takes a number from ${least} to ${most}`);
}

function readProgram(text: string): [name: string, path: string] {
  const [name = "", path = ""] = text.split("=");
  if (name !== "" && path !== "") return [name, path];
  throw new UsageError(`--program takes NAME=PATH, not ${text}`);
}

function split(list: string | undefined): readonly string[] | undefined {
  return list?.split(",").map((name) => name.trim());
}

/**
 * The parts `memory` and `paths` of the bench: what a pet takes in `memoryStorage`, and each fast path
 * beside its plain sibling. A program of each runtime measures both in its own process.
 *
 * @module
 */

import type { BenchOptions } from "./options.ts";
import { runProgram } from "./process.ts";
import { findRuntime } from "./runtimes.ts";
import type { Table } from "./table.ts";

/** A program that measures in its own process. */
export function inProcess(name: string): URL {
  return new URL(`contestants/in_process/${name}.ts`, import.meta.url);
}

/** Measures `memoryStorage` with a thousand to a million pets. */
export async function* runMemory(
  { runtimes }: BenchOptions,
): AsyncIterable<Table> {
  for (const runtime of runtimes.map(findRuntime)) {
    console.error(`${runtime.title}, memory`);
    const rows: string[][] = [];
    for (const pets of [1e3, 1e4, 1e5, 1e6]) {
      const row = await runProgram(runtime, inProcess("memory"), pets);
      rows.push(row as string[]);
    }
    const columns = ["pets", "bytes each", "get µs", "list20 µs"];
    yield { title: `memoryStorage on ${runtime.title}`, columns, rows };
  }
}

/** Measures the fast paths. */
export async function* runPaths(
  { runtimes, rounds, seconds }: BenchOptions,
): AsyncIterable<Table> {
  const task = { rounds, seconds: seconds / 5 };
  for (const runtime of runtimes.map(findRuntime)) {
    console.error(`${runtime.title}, fast paths`);
    const rows = await runProgram(runtime, inProcess("paths"), task);
    yield {
      title: `Fast paths on ${runtime.title}, in the process`,
      columns: ["", "at once", "plain µs", "fast µs", "gain", "min..max"],
      rows: rows as Table["rows"],
    };
  }
}

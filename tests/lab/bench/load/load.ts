/**
 * The load: as many requests as a server answers, with one under way on each connection.
 */

import { type Process, startProcess } from "../process.ts";
import { findRuntime } from "../runtimes.ts";

/** What the generator is told. */
export interface LoadTask {
  /** Of the servers, which get the connections by turns. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** A whole request, in which `RANDOM` stands for the id of any pet. */
  readonly request: string;
  /** How many pets there are. */
  readonly pets: number;
  /** What every answer must have: a server that fails fast does not win. */
  readonly status: number;
  readonly seconds: number;
}

/** What the generator counted: answers, in how long, and their latencies in ms. */
export interface Count {
  readonly requests: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

let generator: Process | undefined;

/** Puts servers under load. Rejects when an answer is wrong or missing. */
export async function load(task: LoadTask): Promise<Count> {
  const file = new URL("generator.ts", import.meta.url);
  generator ??= startProcess(findRuntime("bun"), file);
  return await generator.ask(task) as Count;
}

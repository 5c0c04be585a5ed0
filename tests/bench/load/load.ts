/**
 * The load: as many requests as a server answers, with one under way on each connection.
 */

import { type Process, startProcess } from "../process.ts";
import { findRuntime } from "../runtimes.ts";

/** How many connections the load has. */
export const CONNECTIONS = 64;

/** What the generator is told: whole requests, to be sent in turn; how long, or how many. */
export interface LoadTask {
  readonly port: number;
  readonly connections: number;
  readonly requests: readonly string[];
  /** What every answer must have: a server that fails fast does not win. */
  readonly status: number;
  readonly seconds?: number;
  readonly count?: number;
}

/** What the generator counted: answers, in how long, and their latencies in ms. */
export interface Count {
  readonly requests: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

let generator: Process | undefined;

/** Puts a server under load. Rejects when an answer is wrong or missing. */
export async function load(task: LoadTask): Promise<Count> {
  const file = new URL("generator.ts", import.meta.url);
  generator ??= startProcess(findRuntime("bun"), file);
  return await generator.ask(task) as Count;
}

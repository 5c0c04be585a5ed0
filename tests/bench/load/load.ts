/**
 * The load: as many requests as a server answers, over {@linkcode CONNECTIONS} connections with one
 * request under way on each.
 *
 * @module
 */

import { type Process, startProcess } from "../process.ts";
import { findRuntime } from "../runtimes.ts";

/** How many connections the load has. */
export const CONNECTIONS = 64;

/** What the generator is told: how long, or how many. */
export interface LoadTask {
  /** Of 127.0.0.1. */
  readonly port: number;
  readonly connections: number;
  /** Whole requests, sent in turn. */
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

/**
 * Puts a server under load.
 *
 * @throws {Error} when an answer is wrong or missing.
 */
export async function load(task: LoadTask): Promise<Count> {
  const file = new URL("generator.ts", import.meta.url);
  generator ??= startProcess(findRuntime("bun"), file);
  return await generator.ask(task) as Count;
}

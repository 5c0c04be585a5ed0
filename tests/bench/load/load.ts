/**
 * The load: as many requests as a server answers, over {@linkcode CONNECTIONS} connections with one
 * request under way on each.
 *
 * @module
 */

import { type Process, startProcess } from "../process.ts";
import { findRuntimes } from "../runtimes.ts";

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

/** What the generator counted. */
export interface Count {
  /** Answers. */
  readonly requests: number;
  /** How long it took. */
  readonly seconds: number;
  /** The latency that half of the answers had at most, in ms. */
  readonly p50: number;
  /** The latency that 99 of 100 answers had at most, in ms. */
  readonly p99: number;
}

let generator: Process | undefined;

/**
 * Puts a server under load.
 *
 * @throws {Error} when an answer is wrong or missing.
 */
export async function load(task: LoadTask): Promise<Count> {
  if (generator === undefined) {
    const [bun] = findRuntimes(["bun"]);
    if (bun === undefined) throw new Error("The load generator needs Bun");
    const file = new URL("generator.ts", import.meta.url);
    generator = startProcess(bun, file);
  }
  const limit = (task.seconds ?? 60) + 20;
  const count = await generator.ask(JSON.stringify(task), limit) as
    & Count
    & { readonly error?: string };
  if (count.error === undefined) return count;
  throw new Error(`The load failed: ${count.error}`);
}

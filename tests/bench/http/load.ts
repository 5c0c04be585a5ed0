/**
 * The load: as many requests as a server answers, over {@linkcode CONNECTIONS} connections with one
 * request under way on each.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { autocannon } from "./autocannon.ts";
import type { Case } from "./cases.ts";
import { findRuntimes } from "./runtimes.ts";
import { wrk } from "./wrk.ts";

/** How many connections the load has. */
export const CONNECTIONS = 64;

/** What the load counted. */
export interface Count {
  /** Answers. */
  readonly requests: number;
  /** How long it took, in seconds. */
  readonly seconds: number;
  /** Answers with a status of 400 and above. */
  readonly refused: number;
  /** Connections that failed, and answers that came too late. */
  readonly failed: number;
  /** The latency that half of the answers had at most, in ms. */
  readonly p50: number;
  /** The latency that 99 of 100 answers had at most, in ms. */
  readonly p99: number;
}

/** Sends the requests of a case to an origin, for some seconds. */
export type Load = (
  origin: string,
  work: Case,
  seconds: number,
) => Promise<Count>;

/** The load generator that there is: wrk, or else autocannon, which takes more of the machine. */
export function findLoad(): { readonly name: string; readonly load: Load } {
  const hasWrk = spawnSync("wrk", ["--version"]).error === undefined;
  if (hasWrk) return { name: "wrk", load: wrk() };
  const [node] = findRuntimes(["node"]);
  return { name: "autocannon", load: autocannon(node?.command ?? "node") };
}

/**
 * Checks that all answers were of the status that they should have.
 *
 * @throws {Error} where one was not: who fails fast does not win.
 */
export function checkCount(name: string, work: Case, count: Count): void {
  const { requests, refused, failed } = count;
  const expected = work.status >= 400 ? requests : 0;
  if (requests > 0 && failed === 0 && refused === expected) return;
  throw new Error(
    `${name} failed under load in the case ${work.name}: of ${requests} answers ${refused} were refusals, and should have been ${expected}; ${failed} requests failed`,
  );
}

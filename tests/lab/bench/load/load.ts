/**
 * The load on a server: either one request after the other on each connection, or so many a second,
 * however long the answers take.
 */

import { findRuntime } from "../../../support/runtime.ts";
import { type Process, startProcess } from "../process.ts";

/** What the generator is told. */
export interface LoadTask {
  /** Of the servers, which get the connections by turns. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** A whole request, in which `RANDOM` stands for the id of any pet. */
  readonly request: string;
  /** How many pets there are. Default: 1. */
  readonly pets?: number;
  /** What answers may have: a server that fails fast does not win. */
  readonly statuses: readonly number[];
  readonly seconds: number;
  /** Seconds of load before those that count. Default: 0. */
  readonly warmUp?: number;
  /**
   * Requests a second, at random times. One for which no connection is idle waits for it. Default: as
   * many as are answered.
   */
  readonly rate?: number;
  /**
   * The pause before it looks again for what is due, in ms; the times of requests are as late as that.
   * Default: none, because timers are late, but then it needs a processor of its own.
   */
  readonly pause?: number;
  /** The most requests that are sent. Default: any number. */
  readonly requests?: number;
}

/** What the generator counted. */
export interface Count {
  /** Answers, also those that came after the last request, and in how many seconds. */
  readonly requests: number;
  readonly seconds: number;
  /** Latencies in ms, from when a request should have been sent. */
  readonly p50: number;
  readonly p99: number;
  /** The number of answers by status, without those that came after the last request. */
  readonly statuses: Readonly<Record<number, number>>;
}

let generator: Process | undefined;

/** Puts servers under load. Rejects when an answer is wrong or missing. */
export async function load(task: LoadTask): Promise<Count> {
  const file = new URL("generator.ts", import.meta.url);
  generator ??= startProcess(findRuntime("bun"), file);
  return await generator.ask(task) as Count;
}

/** Ends the generator, which otherwise runs until this process ends. */
export async function endLoad(): Promise<void> {
  await generator?.stop();
  generator = undefined;
}

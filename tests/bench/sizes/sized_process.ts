/**
 * The process of a storage of one size.
 *
 * @module
 */

import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Runtime } from "../http/runtimes.ts";
import { startProcess } from "../http/server.ts";
import { programArgs } from "../in_runtime.ts";
import type { Ready, SizeTask } from "./turns.ts";

/** A process that has filled its storage. */
export interface SizedProcess extends Ready {
  readonly animals: number;
  /** Takes a turn of a work: reads a second. */
  turn(work: string): Promise<number>;
  stop(): Promise<void>;
}

const FILLING_TIME = 180_000; // ms
const TURN_TIME = 20_000; // ms

/**
 * Starts a process and waits until its storage is filled.
 *
 * @throws {Error} where it ends, or takes too long.
 */
export async function startSized(
  runtime: Runtime,
  task: SizeTask,
): Promise<SizedProcess> {
  const program = new URL("turns.ts", import.meta.url);
  const child = startProcess(
    runtime.command,
    programArgs(runtime, program, task),
  );
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("It has no pipes");
  let complaints = "";
  child.stderr?.on("data", (text) => complaints += text);
  const ended = once(child, "close");
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();

  async function nextLine(time: number): Promise<unknown> {
    const timer = setTimeout(() => child.kill("SIGKILL"), time);
    const { done, value } = await lines.next();
    clearTimeout(timer);
    if (!done) return JSON.parse(value);
    throw new Error(
      `${task.kind} with ${task.animals} animals on ${runtime.name} ended or took too long:\n${complaints}`,
    );
  }

  const ready = await nextLine(FILLING_TIME) as Ready;
  return {
    ...ready,
    animals: task.animals,
    async turn(work) {
      stdin.write(`${work}\n`);
      return await nextLine(TURN_TIME) as number;
    },
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

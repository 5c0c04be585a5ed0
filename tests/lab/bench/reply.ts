/**
 * How a program of the bench hears from the bench and answers: lines of standard input, and marked lines
 * of standard error, as standard output may be a log.
 */

import process from "node:process";
import { createInterface } from "node:readline";

/** What a reply begins with. */
export const MARK = "bench ";

/** Sends a reply. */
export function reply(value: unknown): void {
  process.stderr.write(`${MARK}${JSON.stringify(value)}\n`);
}

/** Replies to each line, which is JSON. The process ends with its input. */
export async function serveTasks<Task>(
  work: (task: Task) => Promise<unknown>,
): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    reply(await work(JSON.parse(line)));
  }
  process.exit();
}

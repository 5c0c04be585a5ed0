/**
 * Measuring in a process of its own, on the runtime that is measured.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { outputOf } from "./http/output.ts";
import type { Runtime } from "./http/runtimes.ts";

const FLAGS = {
  deno: ["run", "-A", "--v8-flags=--expose-gc"],
  bun: ["run"],
  node: ["--disable-warning=ExperimentalWarning", "--expose-gc"],
} as const;

/** What a process is given. */
export interface ProcessOptions {
  /** For the program, which reads it with {@linkcode readTask}. */
  readonly task: unknown;
  /** The process is killed after so many seconds, and that is an error. */
  readonly seconds: number;
}

/**
 * Runs a program of the bench and takes the JSON that it writes.
 *
 * @throws {Error} where it fails, or does not end.
 */
export async function inRuntime(
  runtime: Runtime,
  program: URL,
  { task, seconds }: ProcessOptions,
): Promise<unknown> {
  const args = programArgs(runtime, program, task);
  return JSON.parse(await outputOf(runtime.command, args, { seconds }));
}

/** How a runtime is told to run a program of the bench. */
export function programArgs(
  { name }: Runtime,
  program: URL,
  task: unknown,
): readonly string[] {
  return [...FLAGS[name], fileURLToPath(program), JSON.stringify(task)];
}

/** The task of this process: its only argument, which whoever started it has written. */
export function readTask<T>(args: readonly string[]): T {
  return JSON.parse(args.at(-1) ?? "null");
}

/** How people call a runtime. */
export function titleOf({ name, version }: Runtime): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)} ${version}`;
}

/** A server and the processes it has forked, as Linux tells of them in /proc. */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { until } from "./until.ts";

/** The processes that a process has forked and that have not been reaped. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc").map(Number).filter((child) =>
    Number.isInteger(child) && statusOf(child)?.parent === pid
  );
}

/** Whether a process runs, or is stopped. One that nobody has reaped yet runs no more. */
export function isAlive(pid: number): boolean {
  const state = statusOf(pid)?.state;
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Stops a process and all that it has forked, and returns their ids; they keep what they hold. */
export async function pauseTree(pid: number): Promise<readonly number[]> {
  // First the one that forks: then no more can come.
  await pauseProcess(pid);
  const children = childrenOf(pid);
  await Promise.all(children.map(pauseProcess));
  return [pid, ...children];
}

/** Sends a signal to a process, unless it is gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function pauseProcess(pid: number): Promise<void> {
  signal(pid, "SIGSTOP");
  await until(
    `process ${pid} is stopped`,
    () => !isAlive(pid) || statusOf(pid)?.state === "T",
  );
}

interface Status {
  /** One letter, of proc(5). */
  readonly state: string;
  readonly parent: number;
}

function statusOf(pid: number): Status | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may have spaces and parentheses.
    const [, state, parent] = /^\d+ \(.*\) (\w) (\d+)/s.exec(stat) ?? [];
    return state === undefined ? undefined : { state, parent: Number(parent) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The process is gone: ENOENT, or ESRCH in the middle of reading. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "ENOENT" || error.code === "ESRCH");
}

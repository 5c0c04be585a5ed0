/**
 * Metrics of the process, with Prometheus's names (its document Writing client libraries, Process
 * metrics).
 */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { VERSION } from "./command_line.ts";

/** In seconds since 1970. */
const START = Date.now() / 1000 - process.uptime();

/** The metrics, each as a line with its name, value and meaning. */
export function processMetrics(): readonly string[] {
  const { user, system } = process.cpuUsage(); // in µs
  // Deno and Bun name a version of Node too.
  const runtime = (["deno", "bun"] as const)
    .find((name) => name in process.versions) ?? "node";
  const version = process.versions[runtime];
  return [
    `process_cpu_seconds_total ${
      (user + system) / 1e6
    } Processor time used, in seconds.`,
    `process_resident_memory_bytes ${process.memoryUsage.rss()} Resident memory, in bytes.`,
    `process_start_time_seconds ${START} When the process started, in seconds since 1970.`,
    `petstore_build_info{version="${VERSION}",runtime="${runtime}",runtime_version="${version}"} 1 Always 1: the labels say what is running.`,
    ...descriptors(),
  ];
}

/** None if they cannot be read, as on Deno, where `/proc` needs all permissions. */
function descriptors(): readonly string[] {
  if ("Deno" in globalThis) return [];
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, max] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    const open = readdirSync("/proc/self/fd").length;
    return max === undefined ? [] : [
      `process_open_fds ${open} Open file descriptors.`,
      `process_max_fds ${max} Maximum number of open file descriptors.`,
    ];
  } catch {
    return []; // not Linux
  }
}

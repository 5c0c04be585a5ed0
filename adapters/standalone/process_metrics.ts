/**
 * Metrics of the process, with Prometheus's names (its document Writing client libraries, Process
 * metrics).
 */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { VERSION } from "./command_line.ts";

/** In seconds since 1970. */
const START = Date.now() / 1000 - process.uptime();

/**
 * Reads the number of open descriptors and its limit; `undefined` if that is impossible, as on
 * Deno, where `/proc` needs all permissions.
 */
function readDescriptors() {
  if ("Deno" in globalThis) return undefined;
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, max] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    const open = readdirSync("/proc/self/fd").length;
    return max === undefined ? undefined : { open, max };
  } catch {
    return undefined; // not Linux
  }
}

/** The metrics as text. */
export function processMetrics(): string {
  const { user, system } = process.cpuUsage(); // in µs
  // Deno and Bun name a version of Node too.
  const runtime = (["deno", "bun"] as const)
    .find((name) => name in process.versions) ?? "node";
  const version = process.versions[runtime];
  const text =
    `# HELP process_cpu_seconds_total Processor time used, in seconds.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total ${(user + system) / 1e6}
# HELP process_resident_memory_bytes Resident memory, in bytes.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes ${process.memoryUsage.rss()}
# HELP process_start_time_seconds When the process started, in seconds since 1970.
# TYPE process_start_time_seconds gauge
process_start_time_seconds ${START}
# HELP petstore_build_info Always 1: the labels say what is running.
# TYPE petstore_build_info gauge
petstore_build_info{version="${VERSION}",runtime="${runtime}",runtime_version="${version}"} 1
`;
  const descriptors = readDescriptors();
  if (descriptors === undefined) return text;
  return `${text}# HELP process_open_fds Open file descriptors.
# TYPE process_open_fds gauge
process_open_fds ${descriptors.open}
# HELP process_max_fds Maximum number of open file descriptors.
# TYPE process_max_fds gauge
process_max_fds ${descriptors.max}
`;
}

/**
 * Metrics of the process, named as Prometheus asks (its document Writing client libraries, Process
 * metrics).
 */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { VERSION } from "./command_line.ts";

/** In seconds since 1970. */
const START = Date.now() / 1000 - process.uptime();

/**
 * Counts the descriptors that are open and that may be. `undefined` if they cannot be read, as on
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
    return undefined; // no Linux
  }
}

/** Writes a metric with one value: a counter if its name says so, otherwise a gauge. */
export function metric(
  name: string,
  help: string,
  value: number | string,
  labels = "",
): string {
  const type = name.endsWith("_total") ? "counter" : "gauge";
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}${labels} ${value}\n`;
}

/** The metrics as text. */
export function processMetrics(): string {
  const { user, system } = process.cpuUsage(); // in µs
  const runtime = "Deno" in globalThis
    ? "deno"
    : "Bun" in globalThis
    ? "bun"
    : "node";
  const version = process.versions[runtime];
  const text = metric(
    "process_cpu_seconds_total",
    "Processor time that was used.",
    (user + system) / 1e6,
  ) + metric(
    "process_resident_memory_bytes",
    "Memory in use.",
    process.memoryUsage.rss(),
  ) + metric(
    "process_start_time_seconds",
    "When the process began, in seconds since 1970.",
    START,
  ) + metric(
    "petstore_build_info",
    "Always 1: the labels tell what runs.",
    1,
    `{version="${VERSION}",runtime="${runtime}",runtime_version="${version}"}`,
  );
  const descriptors = readDescriptors();
  if (descriptors === undefined) return text;
  const { open, max } = descriptors;
  return text + metric("process_open_fds", "Descriptors that are open.", open) +
    metric("process_max_fds", "Descriptors that may be open.", max);
}

/** Metrics of this process, which Prometheus reads at `/metrics`. */

import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import process from "node:process";
import type { Endpoint, Layer } from "../../core/kit.ts";
import { type PetStorage, StorageError } from "../../core/storage.ts";
import { knownMethod } from "./tracing.ts";
import type { PoolCounts } from "../storage/pet_database.ts";
import { VERSION } from "../program/command_line.ts";
import type { Database } from "../standalone/config.ts";

const NAME = "http_server_request_duration_seconds";
/**
 * The bounds of OpenTelemetry's semantic conventions, in seconds: 1, 2.5, 5 and 7.5 of each power
 * of ten, from 5 ms to 10 s, but not 7.5 ms.
 */
const BOUNDS = [
  0.005,
  ...[100, 10, 1].flatMap((unit) => [1, 2.5, 5, 7.5].map((n) => n / unit)),
  10,
  Infinity,
];
const HEADERS = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

/** When the process started, in seconds since 1970. */
const START = Date.now() / 1000 - process.uptime();

/** Makes the metrics, with those of an open database and of its connections to PostgreSQL. */
export function createMetrics(database: Database, pool?: () => PoolCounts) {
  /** By labels: the total seconds, and for each bound how many requests took no longer. */
  const durations = new Map<string, readonly [number, number[]]>();
  /** The log of SQLite. */
  const log = database.kind === "sqlite"
    ? `${realpathSync(database.path)}-wal`
    : undefined;
  /** What is not finished: requests, and what they ask of the storage. */
  const unfinished = { requests: 0, creates: 0, reads: 0 };
  let faults = 0;

  /** Counts work until it settles. */
  function count<T>(kind: keyof typeof unfinished, work: () => Promise<T>) {
    unfinished[kind]++;
    return work().finally(() => unfinished[kind]--);
  }

  /** Wraps a storage to count its unfinished creates and reads. */
  function watch<T extends PetStorage>(storage: T): T {
    return {
      ...storage,
      create: (...call) => count("creates", () => storage.create(...call)),
      get: (id) => count("reads", () => storage.get(id)),
      list: (query) => count("reads", () => storage.list(query)),
    };
  }

  const endpoint: Endpoint = {
    method: "GET",
    path: "/metrics",
    isPublic: true,
    run: async () => ({ status: 200, headers: HEADERS, body: text() }),
  };

  /** Counts and times the requests of a service. */
  const layer: Layer = (service) => async (request, ...rest) => {
    const start = performance.now();
    const answer = await count("requests", () => service(request, ...rest));
    const { status, route = "", cause } = answer;
    const method = knownMethod(request) ?? "_OTHER";
    const labels =
      `http_route="${route}",http_request_method="${method}",http_response_status_code="${status}"`;
    const seconds = (performance.now() - start) / 1000;
    const [sum = 0, counts] = durations.get(labels) ?? [];
    const more = BOUNDS.map((bound, i) =>
      (counts?.[i] ?? 0) + (seconds > bound ? 0 : 1)
    );
    durations.set(labels, [sum + seconds, more]);
    if (cause instanceof StorageError) faults++;
    return answer;
  };

  function text(): string {
    const lines = [
      `http_server_active_requests ${unfinished.requests} Requests being answered, including this one.`,
      `petstore_creates_waiting ${unfinished.creates} Creates that the storage has not finished.`,
      `petstore_reads_waiting ${unfinished.reads} Reads that the storage has not finished.`,
      `petstore_storage_faults_total ${faults} Requests refused because of a fault of the storage.`,
      ...processMetrics(),
    ];
    if (pool !== undefined) {
      const { open, waiting, lost, splitBrains } = pool();
      lines.push(
        `petstore_postgres_connections ${open} Open connections to PostgreSQL.`,
        `petstore_postgres_waiting ${waiting} Statements that wait for a connection to PostgreSQL.`,
        `petstore_postgres_lost_total ${lost} Connections to PostgreSQL that ended or were given up.`,
        `petstore_postgres_split_brain_total ${splitBrains} Times that two PostgreSQL hosts accepted writes.`,
      );
    }
    if (log !== undefined) {
      const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
      lines.push(
        `petstore_sqlite_log_bytes ${size} Size of SQLite's log, which grows while another program reads.`,
      );
    }
    let all = lines.map(exposition).join("");
    all += `# HELP ${NAME} Time from a request to its answer.\n`;
    all += `# TYPE ${NAME} histogram\n`;
    for (const [labels, [sum, counts]] of durations) {
      counts.forEach((count, i) => {
        const bound = BOUNDS[i] === Infinity ? "+Inf" : BOUNDS[i];
        all += `${NAME}_bucket{${labels},le="${bound}"} ${count}\n`;
      });
      all += `${NAME}_sum{${labels}} ${sum}\n`;
      all += `${NAME}_count{${labels}} ${counts.at(-1)}\n`;
    }
    return all;
  }

  return { watch, layer, endpoint };
}

/**
 * Writes a metric in Prometheus's text format, from a line with its name, value and meaning. It is
 * a counter if its name ends in `_total`, which Prometheus asks of counters, and otherwise a gauge.
 */
function exposition(line: string): string {
  const type = /^[a-z_]+_total /.test(line) ? "counter" : "gauge";
  return line.replace(
    /^([a-z_]+)((?:\{\S*)? \S+) (.*)$/,
    `# HELP $1 $3\n# TYPE $1 ${type}\n$1$2\n`,
  );
}

/**
 * The metrics of the process, with Prometheus's names (its document Writing client libraries,
 * Process metrics).
 */
function processMetrics(): readonly string[] {
  const { user, system } = process.cpuUsage(); // in µs
  const used = (user + system) / 1e6;
  // Deno and Bun name a version of Node too.
  const runtime = (["deno", "bun"] as const)
    .find((name) => name in process.versions) ?? "node";
  const version = process.versions[runtime];
  return [
    `process_cpu_seconds_total ${used} Processor time used, in seconds.`,
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

/** Metrics of this process, which Prometheus reads at `/metrics`. */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import {
  checkFunction,
  checkNames,
  type Endpoint,
  isStorageError,
} from "../../core/kit.ts";
import type { PetStorage } from "../../core/storage.ts";
import { placed, type PlacedLayer } from "./order.ts";
import { knownMethod } from "./tracing.ts";

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

/** A metric beside those of the service. */
export interface Metric {
  /**
   * Its name, perhaps with labels: `petstore_pets{status="sold"}`. It is a counter if its name ends
   * in `_total`, which Prometheus asks of counters, and otherwise a gauge.
   */
  readonly name: string;
  /** Its value now. */
  readonly value: number;
  /** What it means, in one line. */
  readonly help: string;
}

/** Settings of {@linkcode createMetrics}. */
export interface MetricsOptions {
  /** The path of the endpoint. Default: `/metrics`. */
  readonly path?: string;
  /** The version of your program, a label of `petstore_build_info`. Default: no such metric. */
  readonly version?: string;
  /** Returns more metrics, each name once; called when the metrics are read. Default: none. */
  readonly more?: () => readonly Metric[];
}

/** What {@linkcode createMetrics} makes. */
export interface Metrics {
  /** Counts and times requests. */
  readonly layer: PlacedLayer;
  /**
   * Answers with the metrics, in Prometheus's text format. It needs no API key, so keep strangers
   * away from it, or pass `{ ...endpoint, isPublic: false }`.
   */
  readonly endpoint: Endpoint;
  /** Wraps a storage to count its unfinished creates and reads. */
  watch<T extends PetStorage>(storage: T): T;
}

/**
 * Makes the metrics of this process: how long requests took, by route, method and status, as
 * OpenTelemetry's semantic conventions name it; how many are being answered, and how many creates
 * and reads the storage has not finished; its faults; and the processor time, memory and
 * descriptors of the process. No label comes from a client.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { createMetrics } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const metrics = createMetrics();
 * const handle = createHandler({
 *   storage: metrics.watch(memoryStorage()),
 *   keys: apiKeys(["secret"]),
 *   layers: [metrics.layer],
 *   endpoints: [metrics.endpoint],
 * });
 * await handle(new Request("http://localhost/v1/pets"));
 * const response = await handle(new Request("http://localhost/metrics"));
 * assert.match(await response.text(), /_count\{.*status_code="401"\} 1/);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has the wrong type.
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  checkNames(options, ["path", "version", "more"], "createMetrics");
  const { path = "/metrics", version, more = () => [] } = options;
  checkFunction(more, "more");
  /** By labels: the total seconds, and for each bound how many requests took no longer. */
  const durations = new Map<string, readonly [number, number[]]>();
  /** What is not finished: requests, and what they ask of the storage. */
  const unfinished = { requests: 0, creates: 0, reads: 0 };
  let faults = 0;

  /** Counts work until it settles. */
  async function count<T>(
    kind: keyof typeof unfinished,
    work: () => Promise<T>,
  ): Promise<T> {
    unfinished[kind]++;
    try {
      return await work();
    } finally {
      unfinished[kind]--;
    }
  }

  function watch<T extends PetStorage>(storage: T): T {
    return {
      ...storage,
      // A method of a class is not spread.
      ping: () => storage.ping(),
      close: () => storage.close(),
      create: (...call) => count("creates", () => storage.create(...call)),
      get: (id) => count("reads", () => storage.get(id)),
      list: (query) => count("reads", () => storage.list(query)),
    };
  }

  const endpoint: Endpoint = {
    method: "GET",
    path,
    isPublic: true,
    run: async () => ({ status: 200, headers: HEADERS, body: text() }),
  };

  const layer = placed("metrics", (service) => async (request, ...rest) => {
    const start = performance.now();
    const answer = await count("requests", () => service(request, ...rest));
    const { status, code, route = "", cause } = answer;
    const method = knownMethod(request) ?? "_OTHER";
    const labels =
      `http_route="${route}",http_request_method="${method}",http_response_status_code="${status}"`;
    const seconds = (performance.now() - start) / 1000;
    const [sum = 0, counts] = durations.get(labels) ?? [];
    const more = BOUNDS.map((bound, i) =>
      (counts?.[i] ?? 0) + (seconds > bound ? 0 : 1)
    );
    durations.set(labels, [sum + seconds, more]);
    if (code === "service_unavailable" && isStorageError(cause)) faults++;
    return answer;
  });

  function text(): string {
    const { requests, creates, reads } = unfinished;
    const metrics: readonly Metric[] = [
      metric(
        "http_server_active_requests",
        requests,
        "Requests being answered, including this one.",
      ),
      metric(
        "petstore_creates_waiting",
        creates,
        "Creates that the storage has not finished.",
      ),
      metric(
        "petstore_reads_waiting",
        reads,
        "Reads that the storage has not finished.",
      ),
      metric(
        "petstore_storage_faults_total",
        faults,
        "Requests refused because of a fault of the storage.",
      ),
      ...processMetrics(version),
      ...more(),
    ];
    let all = metrics.map(exposition).join("");
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

/** Makes a metric. */
export function metric(name: string, value: number, help: string): Metric {
  return { name, value, help };
}

/** Writes a metric in Prometheus's text format. */
function exposition({ name, value, help }: Metric): string {
  const [bare = ""] = name.split("{");
  const type = bare.endsWith("_total") ? "counter" : "gauge";
  const line = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return `# HELP ${bare} ${line}\n# TYPE ${bare} ${type}\n${name} ${value}\n`;
}

/**
 * The metrics of the process, with Prometheus's names (its document Writing client libraries,
 * Process metrics).
 */
function processMetrics(ofProgram: string | undefined): readonly Metric[] {
  const { user, system } = process.cpuUsage(); // in µs
  // Deno and Bun name a version of Node too.
  const runtime = (["deno", "bun"] as const)
    .find((name) => name in process.versions) ?? "node";
  const labels = Object.entries({
    version: ofProgram,
    runtime,
    runtime_version: process.versions[runtime],
  }).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [
    metric(
      "process_cpu_seconds_total",
      (user + system) / 1e6,
      "Processor time used, in seconds.",
    ),
    metric(
      "process_resident_memory_bytes",
      process.memoryUsage.rss(),
      "Resident memory, in bytes.",
    ),
    metric(
      "process_start_time_seconds",
      START,
      "When the process started, in seconds since 1970.",
    ),
    ...ofProgram === undefined ? [] : [
      metric(
        `petstore_build_info{${labels}}`,
        1,
        "Always 1: the labels say what is running.",
      ),
    ],
    ...descriptors(),
  ];
}

/** None if they cannot be read, as on Deno, where `/proc` needs all permissions. */
function descriptors(): readonly Metric[] {
  if ("Deno" in globalThis) return [];
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, max] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    const open = readdirSync("/proc/self/fd").length;
    return max === undefined ? [] : [
      metric("process_open_fds", open, "Open file descriptors."),
      metric(
        "process_max_fds",
        Number(max),
        "Maximum number of open file descriptors.",
      ),
    ];
  } catch {
    return []; // not Linux
  }
}

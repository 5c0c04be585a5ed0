/** Metrics of this process, which Prometheus reads at `/metrics`. */

import { realpathSync, statSync } from "node:fs";
import type { Layer } from "../../core/http/message.ts";
import { knownMethod } from "../../core/trace.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import type { PoolCounts } from "../storage/pet_database.ts";
import type { Database } from "./config.ts";
import { processMetrics } from "./process_metrics.ts";

const NAME = "http_server_request_duration_seconds";
/** The bounds of OpenTelemetry's semantic conventions. */
const BOUNDS = [
  0.005,
  0.01,
  0.025,
  0.05,
  0.075,
  0.1,
  0.25,
  0.5,
  0.75,
  1,
  2.5,
  5,
  7.5,
  10,
  Infinity,
];
const HEADERS = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

/** Makes the metrics, with those of an open database and of its connections to PostgreSQL. */
export function createMetrics(database: Database, pool?: () => PoolCounts) {
  /** By labels: the total seconds, and for each bound how many requests took no longer. */
  const durations = new Map<string, readonly [number, number[]]>();
  /** The log of SQLite. */
  const log = database.kind === "sqlite"
    ? `${realpathSync(database.path)}-wal`
    : undefined;
  /** The requests that are being answered. */
  let active = 0;
  const unfinished = { creates: 0, reads: 0 };
  let faults = 0;

  function untilSettled<T>(
    kind: keyof typeof unfinished,
    work: Promise<T>,
  ): Promise<T> {
    unfinished[kind]++;
    return work.finally(() => unfinished[kind]--);
  }

  /** Wraps a storage to count its unfinished creates and reads. */
  function watch<T extends PetStorage>(storage: T): T {
    return {
      ...storage,
      create: (...call) => untilSettled("creates", storage.create(...call)),
      get: (id) => untilSettled("reads", storage.get(id)),
      list: (query) => untilSettled("reads", storage.list(query)),
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
    active++;
    const answer = await service(request, ...rest);
    active--;
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
      `http_server_active_requests ${active} Requests being answered, including this one.`,
      `petstore_creates_waiting ${unfinished.creates} Creates that the storage has not finished.`,
      `petstore_reads_waiting ${unfinished.reads} Reads that the storage has not finished.`,
      `petstore_storage_faults_total ${faults} Requests refused because of a fault of the storage.`,
      ...processMetrics(),
    ];
    if (pool !== undefined) {
      const { open, waiting, lost } = pool();
      lines.push(
        `petstore_postgres_connections ${open} Open connections to PostgreSQL.`,
        `petstore_postgres_waiting ${waiting} Statements that wait for a connection to PostgreSQL.`,
        `petstore_postgres_lost_total ${lost} Connections to PostgreSQL that ended or stopped answering.`,
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
    /^([a-z_]+)(\S* \S+) (.*)$/,
    `# HELP $1 $3\n# TYPE $1 ${type}\n$1$2\n`,
  );
}

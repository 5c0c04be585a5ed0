/** Metrics of this process, which Prometheus reads at `/metrics`. */

import { realpathSync, statSync } from "node:fs";
import type { Layer } from "../../core/http/message.ts";
import { knownMethod } from "../../core/trace.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import type { PoolCounts } from "../storage/pet_database.ts";
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

/**
 * Makes the metrics, with those of the storage: of an open SQLite file, or of the connections to
 * PostgreSQL.
 */
export function createMetrics({ sqliteFile, pool }: {
  readonly sqliteFile?: string | undefined;
  readonly pool?: (() => PoolCounts) | undefined;
} = {}) {
  /** By labels: the total seconds, and for each bound how many requests took no longer. */
  const durations = new Map<string, readonly [number, number[]]>();
  /** The log of SQLite. */
  const log = sqliteFile && `${realpathSync(sqliteFile)}-wal`;
  /** The requests that are being answered. */
  let active = 0;
  let creates = 0;
  let reads = 0;
  let faults = 0;

  /** Wraps a storage to count its unfinished creates and reads. */
  function watch<T extends PetStorage>(storage: T): T {
    const create: T["create"] = (pet, options) => {
      creates++;
      return storage.create(pet, options).finally(() => creates--);
    };
    const get: T["get"] = (id) => {
      reads++;
      return storage.get(id).finally(() => reads--);
    };
    const list: T["list"] = (query) => {
      reads++;
      return storage.list(query).finally(() => reads--);
    };
    return { ...storage, create, get, list };
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
    let all =
      `# HELP http_server_active_requests Requests being answered, including this one.
# TYPE http_server_active_requests gauge
http_server_active_requests ${active}
# HELP petstore_creates_waiting Creates that the storage has not finished.
# TYPE petstore_creates_waiting gauge
petstore_creates_waiting ${creates}
# HELP petstore_reads_waiting Reads that the storage has not finished.
# TYPE petstore_reads_waiting gauge
petstore_reads_waiting ${reads}
# HELP petstore_storage_faults_total Requests refused because of a fault of the storage.
# TYPE petstore_storage_faults_total counter
petstore_storage_faults_total ${faults}
# HELP ${NAME} Time from a request to its answer.
# TYPE ${NAME} histogram
`;
    for (const [labels, [sum, counts]] of durations) {
      counts.forEach((count, i) => {
        const bound = BOUNDS[i] === Infinity ? "+Inf" : BOUNDS[i];
        all += `${NAME}_bucket{${labels},le="${bound}"} ${count}\n`;
      });
      all += `${NAME}_sum{${labels}} ${sum}\n`;
      all += `${NAME}_count{${labels}} ${counts.at(-1)}\n`;
    }
    all += processMetrics();
    if (pool !== undefined) {
      const { open, waiting, lost } = pool();
      all +=
        `# HELP petstore_postgres_connections Open connections to PostgreSQL.
# TYPE petstore_postgres_connections gauge
petstore_postgres_connections ${open}
# HELP petstore_postgres_waiting Statements that wait for a connection to PostgreSQL.
# TYPE petstore_postgres_waiting gauge
petstore_postgres_waiting ${waiting}
# HELP petstore_postgres_lost_total Connections to PostgreSQL that ended or stopped answering.
# TYPE petstore_postgres_lost_total counter
petstore_postgres_lost_total ${lost}
`;
    }
    if (log === undefined) return all;
    const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    return `${all}# HELP petstore_sqlite_log_bytes Size of SQLite's log, which grows while another program reads.
# TYPE petstore_sqlite_log_bytes gauge
petstore_sqlite_log_bytes ${size}
`;
  }

  return { watch, layer, endpoint };
}

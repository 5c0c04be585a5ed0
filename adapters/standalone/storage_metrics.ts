/** The metrics of an open database, and of its connections to PostgreSQL. */

import { realpathSync, statSync } from "node:fs";
import { type Metric, metric } from "../layers/metrics.ts";
import type { PoolCounts } from "../storage/pet_database.ts";
import type { Database } from "./config.ts";

/** Makes the function that reads them. */
export function storageMetrics(
  database: Database,
  pool?: () => PoolCounts,
): () => readonly Metric[] {
  if (database.kind === "sqlite") {
    const log = `${realpathSync(database.path)}-wal`;
    return () => [
      metric(
        "petstore_sqlite_log_bytes",
        statSync(log, { throwIfNoEntry: false })?.size ?? 0,
        "Size of SQLite's log, which grows while another program reads.",
      ),
    ];
  }
  if (pool === undefined) return () => [];
  return () => {
    const { open, waiting, lost, splitBrains } = pool();
    return [
      metric(
        "petstore_postgres_connections",
        open,
        "Open connections to PostgreSQL.",
      ),
      metric(
        "petstore_postgres_waiting",
        waiting,
        "Statements that wait for a connection to PostgreSQL.",
      ),
      metric(
        "petstore_postgres_lost_total",
        lost,
        "Connections to PostgreSQL that ended or were given up.",
      ),
      metric(
        "petstore_postgres_split_brain_total",
        splitBrains,
        "Times that two PostgreSQL hosts accepted writes.",
      ),
    ];
  };
}

/**
 * The databases of the bench, filled with the same pets, in our tables or in those of the peers.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { startCluster } from "../../support/postgres/cluster.ts";
import { runSql } from "../../support/postgres/sql.ts";

export const DATABASES = ["sqlite", "postgresql"] as const;
export type DatabaseName = typeof DATABASES[number];

/** Whose tables they are: the service's own, or those that a framework's users would make. */
export type Tables = "ours" | "peer";

/**
 * A place for databases, on the disk of `TMPDIR`; gone once it is closed, or when the bench ends.
 */
export interface Databases {
  /** `PostgreSQL 17.2`; of SQLite, each runtime has a version of its own. */
  readonly title: string;
  /** Makes an empty one, and returns its `DATABASE_URL`. */
  create(): Promise<string>;
  /** Adds this many pets. Makes the tables of a peer first; those of ours must exist. */
  fill(url: string, tables: Tables, pets: number): Promise<void>;
  close(): Promise<void>;
}

const STATUS = "CASE i % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' " +
  "ELSE 'sold' END";

/** Inserts a pet for each `i` of `numbers`. */
function insertion(tables: Tables, numbers: string): string {
  return `INSERT INTO pets (name, category_id, status)
    SELECT CASE i % 5 WHEN 0 THEN 'Rex ' WHEN 1 THEN 'Luna ' WHEN 2 THEN 'Zoë '
        WHEN 3 THEN 'Mr Whiskers ' ELSE 'Müsli ' END || i,
      1 + i % 12, ${tables === "ours" ? "i % 3" : STATUS}
    FROM ${numbers}`;
}

function peerTables(id: string, integer: string): string {
  return `CREATE TABLE pets (id ${id}, name TEXT NOT NULL,
      category_id ${integer} NOT NULL, status TEXT NOT NULL);
    CREATE INDEX pets_by_status ON pets (status, id)`;
}

/**
 * Opens a place for databases. The bench starts its own PostgreSQL server, with default settings.
 */
export async function openDatabases(name: DatabaseName): Promise<Databases> {
  return name === "sqlite" ? sqlite() : await postgresql();
}

function sqlite(): Databases {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  let count = 0;
  return {
    title: "SQLite",
    create: () => Promise.resolve(`sqlite:${folder}/${++count}.db`),
    fill(url, tables, pets) {
      const db = new DatabaseSync(url.slice("sqlite:".length));
      db.exec("PRAGMA journal_mode = WAL");
      if (tables === "peer") {
        db.exec(peerTables("INTEGER PRIMARY KEY AUTOINCREMENT", "INTEGER"));
      }
      const numbers = "WITH RECURSIVE numbers (i) AS (VALUES (1) UNION ALL " +
        `SELECT i + 1 FROM numbers WHERE i < ${pets})`;
      db.exec(`${numbers} ${insertion(tables, "numbers")}`);
      db.close();
      return Promise.resolve();
    },
    close() {
      process.off("exit", remove);
      return Promise.resolve(remove());
    },
  };
}

async function postgresql(): Promise<Databases> {
  const cluster = await startCluster();
  const [version] = await cluster.query("SHOW server_version");
  return {
    title: `PostgreSQL ${String(version?.server_version).split(" ")[0]}`,
    create: cluster.newDatabase,
    async fill(url, tables, pets) {
      if (tables === "peer") {
        const identity = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
        await runSql(url, peerTables(identity, "bigint"));
      }
      const numbers = `generate_series(1, ${pets}) AS numbers (i)`;
      await runSql(url, insertion(tables, numbers));
      await runSql(url, "VACUUM ANALYZE"); // now, rather than amid a turn
      await runSql(url, "CHECKPOINT");
    },
    close: cluster.close,
  };
}

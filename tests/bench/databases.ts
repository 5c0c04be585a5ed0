/**
 * The databases of the bench, filled with the same pets, in the tables of ours or in those of the peers.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { runSql } from "../support/postgres/sql.ts";

export const DATABASES = ["sqlite", "postgresql"] as const;
export type DatabaseName = typeof DATABASES[number];

/** Whose tables they are: the service's own, or those that a framework's users would make. */
export type Tables = "ours" | "peer";

/** A place for databases, on the disk of `TMPDIR`; gone once it is closed, or when the bench ends. */
export interface Databases {
  /** `PostgreSQL 17.2`; of SQLite, each runtime has a version of its own. */
  readonly title: string;
  /** Makes one with this many pets, and returns its `DATABASE_URL`. */
  create(tables: Tables, pets: number): Promise<string>;
  close(): Promise<void>;
}

const STATUS = "CASE i % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' " +
  "ELSE 'sold' END";

/** Inserts a pet for each `i` of `numbers`. */
function fill(tables: Tables, numbers: string): string {
  return `INSERT INTO pets (name, category_id, status)
    SELECT CASE i % 5 WHEN 0 THEN 'Rex ' WHEN 1 THEN 'Luna ' WHEN 2 THEN 'Zoë '
        WHEN 3 THEN 'Mr Whiskers ' ELSE 'Müsli ' END || i,
      1 + i % 12, ${tables === "ours" ? "i % 3" : STATUS}
    FROM ${numbers}`;
}

/** The tables of the peers. */
const columns = (id: string, integer: string): string =>
  `CREATE TABLE pets (id ${id}, name TEXT NOT NULL,
     category_id ${integer} NOT NULL, status TEXT NOT NULL);
   CREATE INDEX pets_by_status ON pets (status, id)`;

/** Opens a place for databases. PostgreSQL is a server of the bench's own, with its default settings. */
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
    async create(tables, pets) {
      const path = `${folder}/${++count}.db`;
      if (tables === "ours") await (await sqliteStorage(path)).close();
      const db = new DatabaseSync(path);
      db.exec("PRAGMA journal_mode = WAL");
      if (tables === "peer") {
        db.exec(columns("INTEGER PRIMARY KEY AUTOINCREMENT", "INTEGER"));
      }
      const numbers = "WITH RECURSIVE numbers (i) AS (VALUES (1) UNION ALL " +
        `SELECT i + 1 FROM numbers WHERE i < ${pets})`;
      db.exec(`${numbers} ${fill(tables, "numbers")}`);
      db.close();
      return `sqlite:${path}`;
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
    async create(tables, pets) {
      const url = await cluster.newDatabase();
      if (tables === "ours") await (await postgresStorage(url)).close();
      else {
        const identity = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
        await runSql(url, columns(identity, "bigint"));
      }
      const numbers = `generate_series(1, ${pets}) AS numbers (i)`;
      await runSql(url, fill(tables, numbers));
      await runSql(url, "VACUUM ANALYZE"); // now, rather than amid a turn
      await runSql(url, "CHECKPOINT");
      return url;
    },
    close: cluster.close,
  };
}

/** An imitation of D1. `tests/lab/workers/` has the real one. */

import { DatabaseSync } from "node:sqlite";
import type { D1Binding } from "../../../../adapters/storage/d1/mod.ts";

type Prepared = ReturnType<D1Binding["prepare"]> & {
  run(): readonly object[];
};

/** SQLite in memory as if it were D1: integers come out as JSON has them, and errors as text. */
export function imitation(): D1Binding {
  const db = new DatabaseSync(":memory:");
  const round = (_: string, value: unknown) =>
    typeof value === "bigint" ? Number(value) : value;
  return {
    prepare(sql): Prepared {
      const bind = (...values: (string | number)[]): Prepared => ({
        bind,
        run() {
          const statement = db.prepare(sql);
          statement.setReadBigInts(true);
          // Node 22.18 does not bind `?1` by its place.
          const rows = sql.includes("?1")
            ? statement.all(
              Object.fromEntries(values.map((value, i) => [i + 1, value])),
            )
            : statement.all(...values);
          return JSON.parse(JSON.stringify(rows, round));
        },
      });
      return bind();
    },

    async batch(statements) {
      db.exec("BEGIN");
      try {
        const all = (statements as Prepared[]).map((one) => one.run());
        db.exec("COMMIT");
        return all.map((results) => ({ results }));
      } catch (error) {
        db.exec("ROLLBACK");
        throw new Error(`D1_ERROR: ${(error as Error).message}: SQLITE_ERROR`);
      }
    },
  };
}

/** The storage in D1 on an imitation of D1, and on a D1 that fails. `tests/workers/` has the real one. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import {
  type D1Binding,
  type D1Statement,
  d1Storage,
} from "../../../adapters/d1/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import { StorageError } from "../../../core/pets/pet_storage.ts";
import { databaseContract } from "../../contract/database_contract.ts";
import { REX } from "../../support/new_pet.ts";

interface Prepared extends D1Statement {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** SQLite in memory, which takes and gives what D1 does: no `bigint`, and integers as JSON has them. */
function imitation(): D1Binding {
  const db = new DatabaseSync(":memory:");

  function run({ sql, values }: Prepared): readonly object[] {
    assert.ok(values.every((value) => typeof value !== "bigint"));
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    const toJson = (_: string, value: unknown) =>
      typeof value === "bigint" ? Number(value) : value;
    return JSON.parse(JSON.stringify(statement.all(...values), toJson));
  }

  return {
    prepare(sql): Prepared {
      const bind = (...values: (string | number)[]) => ({ sql, values, bind });
      return bind();
    },

    async batch(statements) {
      db.exec("BEGIN");
      try {
        const all = (statements as Prepared[]).map((prepared) => ({
          results: run(prepared),
        }));
        db.exec("COMMIT");
        return all;
      } catch (error) {
        db.exec("ROLLBACK");
        throw new Error(`D1_ERROR: ${(error as Error).message}: SQLITE_ERROR`);
      }
    },
  };
}

databaseContract("d1Storage on an imitation", async () => {
  const binding = imitation();
  return async (options) => d1Storage(binding, options);
});

test("d1Storage says what is known of a statement that failed", async () => {
  const cases = [
    // What failed, and what a read and a create are then.
    ["Network connection lost.", "unavailable", "outcome_unknown"],
    [
      "D1 DB reset because its code was updated.",
      "unavailable",
      "outcome_unknown",
    ],
    [
      "D1 DB is overloaded. Too many requests queued.",
      "unavailable",
      "unavailable",
    ],
    [
      "Cannot resolve D1 DB due to transient issue on remote node.",
      "unavailable",
      "unavailable",
    ],
    ["Exceeded maximum DB size", "unavailable", "unavailable"],
    ["no such column: category_id: SQLITE_ERROR", undefined, undefined],
  ] as const;
  for (const [message, ofRead, ofCreate] of cases) {
    const cause = new Error(`D1_ERROR: ${message}`);
    const storage = d1Storage({
      ...imitation(),
      batch: () => Promise.reject(cause),
    });
    const outcomes = await Promise.allSettled([
      storage.get(petId(1n)),
      storage.create(REX),
    ]);
    const kinds = outcomes.map((outcome) => {
      const error = outcome.status === "rejected" ? outcome.reason : undefined;
      if (error === cause) return undefined;
      assert.ok(error instanceof StorageError && error.cause === cause);
      return error.kind;
    });
    assert.deepEqual(kinds, [ofRead, ofCreate], message);
  }
});

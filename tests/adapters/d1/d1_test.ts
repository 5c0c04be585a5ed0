/** The storage in D1 on an imitation of D1, and on a D1 that fails. `tests/workers/` has the real one. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { type D1Binding, d1Storage } from "../../../adapters/d1/mod.ts";
import { databaseContract } from "../../contract/database_contract.ts";
import { REX } from "../../support/new_pet.ts";

type Prepared = ReturnType<D1Binding["prepare"]> & {
  run(): readonly object[];
};

/** SQLite in memory as if it were D1: integers come out as JSON has them, and errors as text. */
function imitation(): D1Binding {
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
          return JSON.parse(JSON.stringify(statement.all(...values), round));
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

databaseContract("d1Storage on an imitation", async () => {
  const binding = imitation();
  return async (options) => d1Storage(binding, options);
});

test("d1Storage says what is known after a fault of D1", async () => {
  const ofCreate = {
    "Network connection lost.": "outcome_unknown",
    "D1 DB reset because its code was updated.": "outcome_unknown",
    "D1 DB is overloaded. Too many requests queued.": "unavailable",
    "Cannot resolve D1 DB due to transient issue on remote node.":
      "unavailable",
    "Exceeded maximum DB size": "unavailable",
  };
  for (const [message, kind] of Object.entries(ofCreate)) {
    const cause = new Error(`D1_ERROR: ${message}`);
    const batch = () => Promise.reject(cause);
    const storage = d1Storage({ ...imitation(), batch });
    await assert.rejects(storage.create(REX), { kind, cause });
    await assert.rejects(storage.ping(), { kind: "unavailable", cause });
  }
});

test("d1Storage does not write to the table of another program", async () => {
  const binding = imitation();
  await binding.batch([binding.prepare("CREATE TABLE pets (id, name)")]);
  const noColumn = /^Error: D1_ERROR: .* no column named category_id/;
  await assert.rejects(d1Storage(binding).create(REX), noColumn);
});

test("d1Storage adds a pet anew if it was deleted by hand", async () => {
  const binding = imitation();
  const add = () => d1Storage(binding).create(REX, { idempotencyKey: "k" });
  await add();
  await binding.batch([binding.prepare("DELETE FROM pets")]);
  assert.deepEqual(await add(), { id: 2n, ...REX });
});

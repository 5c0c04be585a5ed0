/** The storage in D1 on an imitation of D1, and on a D1 that fails. `tests/lab/workers/` has the real one. */
import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { d1Storage } from "../../../../adapters/storage/d1/mod.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { databaseContract } from "../database_contract.ts";
import { countKept } from "../../../support/garbage.ts";
import { sqlContract, SQLITE } from "../sql_contract.ts";
import { imitation } from "./imitation.ts";
import { key, REX } from "../../../support/pets.ts";

const testNamed = (title: string, check: (t: TestContext) => Promise<void>) =>
  test(`d1Storage on an imitation: ${title}`, { timeout: 60_000 }, check);
databaseContract(testNamed, async () => {
  const binding = imitation();
  return async (options) => d1Storage(binding, options);
});
sqlContract(testNamed, async () => {
  const binding = imitation();
  return {
    async open(options) {
      const storage = d1Storage(binding, options);
      await storage.ping(); // creates the tables
      return storage;
    },
    async sql(text) {
      const statements = text.split(";\n").map((one) => binding.prepare(one));
      const all = await binding.batch(statements);
      return Object.values(all.at(-1)?.results[0] ?? {})[0];
    },
  };
}, { ...SQLITE, noIds: /^Error: D1_ERROR: database or disk is full/ });

test("d1Storage refuses a binding that is missing or of another kind", () => {
  const noDatabase = {
    name: "TypeError",
    message:
      "d1Storage needs a D1 database: bind one in wrangler.jsonc, and pass it, such as env.DB",
  };
  for (const wrong of [undefined, null, "DB", {}]) {
    assert.throws(() => d1Storage(wrong as never), noDatabase, `${wrong}`);
  }
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
  for (const [text, kind] of Object.entries(ofCreate)) {
    const cause = new Error(`D1_ERROR: ${text}`);
    const batch = () => Promise.reject(cause);
    const storage = d1Storage({ ...imitation(), batch });
    const fault = (action: string, kind = "unavailable") => ({
      kind,
      cause,
      message: kind === "unavailable"
        ? `Cannot ${action}: ${cause}`
        : `Outcome unknown (${action}): ${cause}`,
    });
    const notCreated = fault("create pet", kind);
    await assert.rejects(storage.create(REX), notCreated, text);
    await assert.rejects(storage.create(REX, key(1)), notCreated, text);
    await assert.rejects(storage.get(petId(1n)), fault("get pet"), text);
    await assert.rejects(storage.list({ limit: 1 }), fault("list pets"), text);
    await assert.rejects(storage.ping(), fault("reach the database"), text);
  }
});

test("d1Storage closes once what is under way has ended", async () => {
  const { promise, resolve } = Promise.withResolvers<[]>();
  const storage = d1Storage({ ...imitation(), batch: () => promise });
  const ping = storage.ping();
  let isClosed = false;
  const closing = storage.close().then(() => isClosed = true);
  await new Promise(setImmediate);
  assert.equal(isClosed, false);
  resolve([]);
  await Promise.all([ping, closing]);
});

test("d1Storage creates any table or index that is missing, and changes no other", async () => {
  for (const table of ["pets", "api_keys", "idempotency_keys"]) {
    const binding = imitation();
    const sql = (text: string) => binding.batch([binding.prepare(text)]);
    const storage = d1Storage(binding);
    const record = { name: "key", digest: "0", created: new Date(0) };
    await storage.apiKeys.insert(record);
    const { id } = await storage.create(REX, key(1));
    await sql(`DROP TABLE ${table}`);
    const [pets, keys] = [
      await storage.list({ limit: 9 }),
      await storage.apiKeys.list(),
    ];
    const added = await storage.create(REX, key(1));
    assert.equal(pets.pets.length, table === "pets" ? 0 : 1, table);
    assert.equal(keys.length, table === "api_keys" ? 0 : 1, table);
    const isReplayed = added.id === id && added.replayed === true;
    assert.equal(isReplayed, table === "api_keys", `without ${table}`);
    const [indexes] = await sql(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    );
    assert.equal(indexes?.results.length, 2, table);
  }
});

test("d1Storage keeps nothing of an operation that has ended", async () => {
  const { batch, ...binding } = imitation();
  const results: WeakRef<object>[] = [];
  const storage = d1Storage({
    ...binding,
    async batch(statements) {
      const all = await batch(statements);
      results.push(new WeakRef(all));
      return all;
    },
  });
  for (let i = 0; i < 5; i++) await storage.create(REX);
  assert.equal(results.length > 4, true);
  assert.equal(await countKept(results), 0);
});

test("d1Storage does not write to the table of another program", async () => {
  const binding = imitation();
  await binding.batch([binding.prepare("CREATE TABLE pets (id, name)")]);
  const noColumn = /^Error: D1_ERROR: .* no column named category_id/;
  await assert.rejects(d1Storage(binding).create(REX), noColumn);
});

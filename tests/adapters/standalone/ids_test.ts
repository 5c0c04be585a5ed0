import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { INT64_MAX } from "../../../core/json.ts";
import { atEnd } from "../../support/at_end.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { REX } from "../../support/pets.ts";
import { testUnless } from "../../support/runtime.ts";
import { runMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const { skip, emptyDatabase } = await sharedPostgres();

const PLACES = {
  SQLite: {
    it: test,
    url: async (cwd: string) => `sqlite:${join(cwd, "petstore.db")}`,
    open: (url: string) => sqliteStorage(url.replace("sqlite:", "")),
  },
  PostgreSQL: {
    it: testUnless(skip),
    url: emptyDatabase,
    open: (url: string) => postgresStorage(url),
  },
};

for (const [name, { it, url, open }] of Object.entries(PLACES)) {
  it(`ids gives ids from a given number in ${name} while a server runs, none twice`, async (t) => {
    const cwd = newFolder(t);
    const env = { DATABASE_URL: await url(cwd) };
    const idsFrom = async (from: bigint | string) => {
      const { code, stdout, stderr } = await runMain(
        ["ids", "--from", `${from}`],
        { cwd, env },
      );
      return [code, stdout + stderr] as const;
    };
    const refused = (from: bigint, last: bigint) => [
      1,
      `Cannot give ids from ${from}: the last id was ${last}, and ids are never reused\n`,
    ];
    const storage = await open(env.DATABASE_URL);
    atEnd(t, () => storage.close());
    // Before the first pet, and again.
    for (let i = 0; i < 2; i++) {
      const [code, text] = await idsFrom(41n);
      assert.equal(code, 0, text);
      assert.match(text, /^New pets in \w+:.* get ids from 41\n$/);
    }
    assert.equal((await storage.create(REX)).id, 41n);
    assert.deepEqual(await idsFrom(41n), refused(41n, 41n));
    assert.deepEqual(await idsFrom(1n), refused(1n, 41n));
    assert.equal((await storage.create(REX)).id, 42n);
    assert.equal((await idsFrom(INT64_MAX))[0], 0);
    assert.equal((await storage.create(REX)).id, INT64_MAX);
    assert.deepEqual(
      await idsFrom(INT64_MAX),
      refused(INT64_MAX, INT64_MAX),
    );
  });
}

const { it, url, open } = PLACES.PostgreSQL;
it("ids goes on after rows that were added by hand, whose ids are not PostgreSQL's", async (t) => {
  const cwd = newFolder(t);
  const env = { DATABASE_URL: await url() };
  const storage = await open(env.DATABASE_URL);
  await runSql(env.DATABASE_URL, "insert into pets values (7, 'Tom', 1, 0)");
  atEnd(t, () => storage.close());
  const refused = await runMain(["ids", "--from", "7"], { cwd, env });
  assert.match(refused.stderr, /the last id was 7,/);
  assert.equal((await runMain(["ids", "--from", "8"], { cwd, env })).code, 0);
  assert.equal((await storage.create(REX)).id, 8n);
});

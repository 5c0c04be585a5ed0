import assert from "node:assert/strict";
import { INT64_MAX } from "../../../core/json.ts";
import { REX } from "../../support/pets.ts";
import { runMain } from "../../support/standalone.ts";
import {
  FROM_POSTGRES,
  type Given,
  ON_FILES,
  testsOfCopies,
} from "./copy_places.ts";

const onWay = await testsOfCopies();

/** Runs the command on the first place; returns its exit code, and what it says. */
async function idsFrom([{ url }, , cwd]: Given, from: bigint) {
  const args = ["ids", "--from", `${from}`];
  const env = { DATABASE_URL: url };
  const { code, stdout, stderr } = await runMain(args, { cwd, env });
  return [code, stdout + stderr] as const;
}

function refused(from: bigint, last: bigint) {
  const reason = `the last id was ${last}, and ids are never reused`;
  return [1, `Cannot give ids from ${from}: ${reason}\n`];
}

for (const way of [ON_FILES, FROM_POSTGRES]) {
  const it = onWay(way);
  it(`ids gives ids from a given number in ${way[0]} while a server runs, none twice`, async (given) => {
    const storage = await given[0].open();
    // Before the first pet, and again.
    for (let i = 0; i < 2; i++) {
      const [code, text] = await idsFrom(given, 41n);
      assert.equal(code, 0, text);
      assert.match(text, /^New pets in \w+:.* get ids from 41\n$/);
    }
    assert.equal((await storage.create(REX)).id, 41n);
    assert.deepEqual(await idsFrom(given, 41n), refused(41n, 41n));
    assert.deepEqual(await idsFrom(given, 1n), refused(1n, 41n));
    assert.equal((await storage.create(REX)).id, 42n);
    assert.equal((await idsFrom(given, INT64_MAX))[0], 0);
    assert.equal((await storage.create(REX)).id, INT64_MAX);
    const last = await idsFrom(given, INT64_MAX);
    assert.deepEqual(last, refused(INT64_MAX, INT64_MAX));
  });
}

const it = onWay(FROM_POSTGRES);

it("ids goes on after rows that were added by hand, whose ids are not PostgreSQL's", async (given) => {
  const [place] = given;
  const storage = await place.open();
  await place.query("insert into pets values (7, 'Tom', 1, 0)");
  assert.deepEqual(await idsFrom(given, 7n), refused(7n, 7n));
  assert.equal((await idsFrom(given, 8n))[0], 0);
  assert.equal((await storage.create(REX)).id, 8n);
});

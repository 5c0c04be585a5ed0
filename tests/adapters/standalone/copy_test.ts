/** The command `copy`: what it refuses, and the ways in which the program ends. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCopy } from "../../../adapters/standalone/copy.ts";
import { launch } from "../../support/process.ts";
import { mainCommand, runMain } from "../../support/standalone.ts";
import { until } from "../../support/time.ts";
import {
  countPets,
  fill,
  FROM_POSTGRES,
  type Given,
  ON_FILES,
  petsSum,
  testsOfCopies,
  TO_POSTGRES,
} from "./copy_places.ts";

const onWay = await testsOfCopies();
const it = onWay(ON_FILES);

it("copy refuses a FROM that is missing or no database of ours, and makes none", async ([from, to, folder]) => {
  const refused = (reason: RegExp) =>
    assert.rejects(runCopy([from.url, to.url]), reason);
  await refused(/Cannot open .*a\.db: there is no such file/);
  assert.equal(existsSync(join(folder, "a.db")), false);
  writeFileSync(join(folder, "a.db"), "");
  await refused(/Cannot open .*a\.db: it lacks the tables of this program/);
  assert.equal(readFileSync(join(folder, "a.db")).length, 0);
  assert.equal(existsSync(join(folder, "b.db")), false);
});

it("copy refuses one SQLite database by two addresses", async ([from, , folder]) => {
  await fill(from, 3);
  symlinkSync("a.db", join(folder, "link.db"));
  for (const to of ["a.db", "./a.db", "link.db"]) {
    const copying = runCopy([from.url, `sqlite:${folder}/${to}`]);
    await assert.rejects(copying, /FROM and TO are the same database/);
  }
});

onWay(FROM_POSTGRES)(
  "copy closes a PostgreSQL database that it refuses: no tables, or FROM and TO",
  async ([from, to]) => {
    const missing = runCopy([from.url, to.url]);
    await assert.rejects(missing, /: it lacks the tables of this program/);
    await fill(from, 3);
    const copying = runCopy([from.url, `${from.url}?connection_limit=3`]);
    await assert.rejects(copying, /FROM and TO are the same database/);
    const others = () =>
      from.query(
        `select cast(pid as text) from pg_stat_activity where datname = current_database()
      and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
    const isClosed = async () => (await others()).length === 0;
    // An idle one would be closed after 30 s.
    await until("no connection is open", isClosed, 15_000);
  },
);

/** Runs the program to its end; adds its result, and what it said besides its progress. */
async function runProgram([from, to, cwd]: Given) {
  const ended = await runMain(["copy", from.url, to.url], { cwd });
  const said = ended.stderr.replaceAll(/^\w+ (?:pets|API keys): .*\n/gm, "");
  return { ...ended, result: JSON.parse(ended.stdout), said };
}

for (const way of [ON_FILES, TO_POSTGRES]) {
  const it = onWay(way);
  it(`the program copy from ${way.join(" to ")} ends with 0 and the sums of both sides`, async (given) => {
    const [from] = given;
    await fill(from, 2500);
    const { code, stdout, result, said } = await runProgram(given);
    assert.deepEqual([code, said], [0, ""]);
    const { pets, apiKeys, equal } = result;
    const text = JSON.stringify({ pets, apiKeys, equal }, null, 2);
    assert.equal(stdout, `${text}\n`);
    const side = { count: 2500, sha256: await petsSum(from) };
    assert.deepEqual([pets.from, pets.to], [side, side]);
    assert.deepEqual([apiKeys.copied, equal], [0, true]);
  });
}

it("the program copy ends with 1 if TO has not kept a pet as it was", async (given) => {
  const [from, to] = given;
  await fill(from, 1500);
  await to.open();
  await to.query(
    `create trigger spoil after insert on pets when new.id = 1234
      begin update pets set category_id = 0 where id = 1234; end`,
  );
  const { code, result, said } = await runProgram(given);
  assert.equal(code, 1);
  const { pets, equal } = result;
  const counts = [pets.from.count, pets.to.count];
  assert.deepEqual([...counts, equal], [1500, 1500, false]);
  assert.notEqual(pets.from.sha256, pets.to.sha256);
  assert.match(said, /^TO is not the same as FROM/);
});

for (const signal of ["SIGINT", "SIGKILL"] as const) {
  it(`the program copy goes on after ${signal} where it was stopped`, async (given) => {
    const [from, to, cwd] = given;
    await fill(from, 2500);
    await to.open();
    // The second page is never written.
    await to.query(
      `create trigger hang after insert on pets when new.id = 1500 begin
        select count(*) from (with recursive n (i) as (select 1 union all select i from n) select i from n);
      end`,
    );
    const program = launch(mainCommand(["copy", from.url, to.url]), { cwd });
    const isWritten = async () => await countPets(to) > 0;
    await until("a page is written", isWritten)
      .finally(() => program.kill(signal));
    assert.notEqual(await program.exited, 0);
    await to.query("drop trigger hang");
    const { result } = await runProgram(given);
    assert.equal(result.pets.earlier, 1000);
  });
}

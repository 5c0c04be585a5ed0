/** Copies between databases: all of it, in order, and again until both are equal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readLastingDatabase } from "../../../adapters/standalone/config.ts";
import {
  copyAll,
  startProgress,
} from "../../../adapters/standalone/copy_records.ts";
import { openTransfer } from "../../../adapters/standalone/open_storage.ts";
import { INT64_MAX, INT64_MIN } from "../../../core/json.ts";
import { issuedKeys } from "../../../core/keys/issued_keys.ts";
import { DELICATE_NAMES } from "../../contract/storage/sample_pets.ts";
import { key, newPet, REX } from "../../support/pets.ts";
import { anyNewPet, fc } from "../../support/property.ts";
import { until } from "../../support/time.ts";
import {
  assertSame,
  type Both,
  content,
  countPets,
  fill,
  FROM_POSTGRES,
  ON_FILES,
  petsSum,
  rowsOf,
  testsOfCopies,
  TO_POSTGRES,
} from "./copy_places.ts";

const onWay = await testsOfCopies();

/** Copies, at 5 s a page for the progress; `amid` runs once the first 1000 pets are written. */
async function copy([from, to]: Both, amid?: () => Promise<void>) {
  const source = await openTransfer(readLastingDatabase(from.url), "read");
  const target = await openTransfer(readLastingDatabase(to.url), "write");
  const notes: string[] = [];
  let time = 0;
  const hooked: typeof target = {
    ...target,
    async write(...query) {
      const rows = await target.write(...query);
      await amid?.();
      amid = undefined;
      return rows;
    },
  };
  try {
    const result = await copyAll({
      from: source,
      to: hooked,
      tell: (line) => notes.push(line),
      now: () => time += 5000,
    });
    return { ...result, notes };
  } finally {
    await source.close();
    await target.close();
  }
}

/** Ends a copy once the first 1000 pets are written. */
async function copyFirstPage(both: Both): Promise<void> {
  const end = () => Promise.reject(new Error("killed"));
  await assert.rejects(copy(both, end), /killed/);
}

for (const way of [ON_FILES, TO_POSTGRES, FROM_POSTGRES]) {
  const it = (what: string, work: (both: Both) => Promise<void>) =>
    onWay(way)(`copy from ${way.join(" to ")} ${what}`, work);

  it("keeps all pets and keys, and proves it", async ([from, to]) => {
    const storage = await from.open();
    const extremes = [INT64_MIN, -(2n ** 53n) - 1n, -1n, 0n, INT64_MAX];
    const pets = [
      ...fc.sample(anyNewPet, { numRuns: 300, seed: 20261121 }),
      ...DELICATE_NAMES.flatMap((name) =>
        extremes.map((categoryId) => ({ ...REX, name, categoryId }))
      ),
    ];
    await Promise.all(pets.map((pet) => storage.create(newPet(pet))));
    const keys = issuedKeys(storage.apiKeys);
    const issued = [];
    for (const name of ["phone", "lost", 'e\u0301 "\u{1f415}"']) {
      issued.push(await keys.issue(name));
    }
    await keys.revoke(2);
    for (const id of [2n ** 53n + 1n, INT64_MAX]) {
      await from.query(`insert into pets values (${id}, 'Far', 1, 2)`);
    }

    const before = await content(from);
    const { pets: animals, apiKeys } = await copy([from, to]);
    assertSame(await content(from), before);
    assertSame(await content(to), before);
    const side = { count: pets.length + 2, sha256: await petsSum(from) };
    assert.deepEqual(animals, {
      earlier: 0,
      copied: pets.length + 2,
      from: side,
      to: side,
      more: 0,
    });
    assert.deepEqual([apiKeys.copied, apiKeys.from], [3, apiKeys.to]);

    const after = await to.open();
    // The storage may be closed before the use of a key is noted.
    const theirs = issuedKeys(after.apiKeys, { onError() {} });
    const valid = await Promise.all(
      issued.map(({ key }) => theirs.verify(key)),
    );
    assert.deepEqual(valid, [{ id: 1 }, false, { id: 3 }]);
    // The second time there is nothing left to do but to read both sides again.
    const { notes, ...again } = await copy([from, to]);
    assert.deepEqual([again.pets.copied, again.apiKeys.copied], [0, 0]);
    assert.deepEqual([again.equal, again.pets.to], [true, side]);
    assert.ok(notes.some((line) => line.startsWith("Verifying pets")));
  });

  it("takes idempotency keys along, but for pets that are not copied", async ([from, to]) => {
    const before = await from.open();
    await Promise.all(
      Array.from({ length: 1100 }, (_, i) => before.create(REX, key(i))),
    );
    const last = await before.create(REX, key(1099));
    await copy([from, to]);
    // TO has keys for which FROM has newer records, and FROM has one for a pet that is not copied.
    await to.query("update idempotency_keys set pet_id = 5");
    await from.query(
      "update idempotency_keys set pet_id = 2000 where key like '%0008'",
    );
    await copy([from, to]);

    const after = await to.open();
    const replayed = { ...last, replayed: true };
    assert.deepEqual(await after.create(REX, key(1099)), replayed);
    const eighth = await after.create(REX, key(8));
    assert.equal(eighth.id, 5n);
    const next = await after.create(REX, key(1100));
    assert.deepEqual([next.id, next.replayed], [1101n, undefined]);
  });

  it("gives no id again, not even that of what is gone, or goes meanwhile", async ([from, to]) => {
    const before = await from.open();
    for (let i = 0; i < 5; i++) {
      await before.create(REX);
      await issuedKeys(before.apiKeys).issue("key");
    }
    await from.query("delete from pets where id > 2");
    await from.query("delete from api_keys");

    await copy([from, to], async () => {
      await before.create(REX);
      await from.query("delete from pets where id = 6");
    });
    const after = await to.open();
    assert.equal((await after.create(REX)).id, 7n);
    const { record } = await issuedKeys(after.apiKeys).issue("next");
    assert.equal(record.id, 6);
  });

  it("gives no id again if a server uses TO after a copy was ended in the middle", async ([from, to]) => {
    await fill(from, 1500);
    await copyFirstPage([from, to]);
    const after = await to.open();
    assert.equal((await after.create(REX)).id, 1501n);
  });

  it("goes on the next time if it was ended in the middle", async ([from, to]) => {
    await fill(from, 2500);
    await copyFirstPage([from, to]);
    assert.equal(await countPets(to), 1000);
    const { pets: animals, advice, notes } = await copy([from, to]);
    const ends = notes.filter((line) => !/: (\d+) of (?!\1$)/.test(line));
    assert.deepEqual([...new Set(ends)], [
      "Comparing pets: 2000 of 2000",
      "Comparing API keys: 0 of 0",
      "TO already has 1000 pets of FROM: continuing after the id 1000",
      "Copying pets: 1500 of 1500",
      "Copying API keys: 0 of 0",
      "Verifying pets: 5000 of 5000",
      "Verifying API keys: 0 of 0",
    ]);
    assert.deepEqual([animals.earlier, animals.copied], [1000, 1500]);
    assert.deepEqual(advice, []);
    assertSame(await content(to), await content(from));
  });

  it("leaves TO as it is if TO has something that FROM does not", async ([from, to]) => {
    await fill(from, 2500);
    await fill(to, 2000);
    const changes = {
      "update pets set name = 'Other' where id = 1700":
        "update pets set name = 'Animal 1700' where id = 1700",
      "delete from pets where id = 3":
        "insert into pets values (3, 'Animal 3', 3000009, 0)",
      "insert into pets values (2502, 'Later', 1, 0)":
        "delete from pets where id = 2502",
      "insert into api_keys values (1, 'n', 'd', 1, null, null, null)":
        "delete from api_keys",
    };
    for (const [sql, undo] of Object.entries(changes)) {
      const what = sql.includes("api_keys") ? "API keys" : "pets";
      await to.query(sql);
      const before = await content(to);
      await assert.rejects(
        copy([from, to]),
        new Error(
          `Cannot copy: TO has ${what} that FROM lacks. Nothing was changed: ` +
            "TO must be empty, or have only what an earlier copy of FROM wrote",
        ),
      );
      assertSame(await content(to), before);
      await to.query(undo);
    }
    // With all of that undone, it is again the beginning of FROM.
    assert.equal((await copy([from, to])).pets.copied, 500);
  });

  it("refuses rows with ids below 1, in FROM and in TO", async ([from, to]) => {
    await fill(from, 3);
    await to.open();
    const zero = "insert into pets values (0, 'Zero', 1, 0)";
    const key =
      `insert into api_keys values (${INT64_MIN}, 'n', 'd', 1, null, null, null)`;
    const cases = [
      [from, "pets", zero, "delete from pets where id = 0"],
      [from, "API keys", key, "delete from api_keys"],
      [to, "pets", zero, "delete from pets"],
    ] as const;
    for (const [place, what, sql, undo] of cases) {
      await place.query(sql);
      await assert.rejects(
        copy([from, to]),
        new RegExp(`^Error: Cannot copy ${what} with ids below 1, such as`),
      );
      await place.query(undo);
      assert.equal(await countPets(to), 0);
    }
    assert.equal((await copy([from, to])).pets.copied, 3);
  });

  it("writes over nothing, and ends unequal, if another program adds pets to TO", async ([from, to]) => {
    await fill(from, 2500);
    const { pets, equal, advice } = await copy([from, to], async () => {
      await to.query("insert into pets values (2400, 'Alien', 1, 2)");
    });
    assert.equal(pets.to.count, 2500);
    assert.notEqual(pets.to.sha256, pets.from.sha256);
    assert.equal(equal, false);
    assert.match(advice.join("\n"), /^TO is not the same as FROM\. Stop .*$/);
    const aliens = await to.query("select name from pets where id = 2400");
    assert.deepEqual(aliens, [{ name: "Alien" }]);
  });

  it("while a server adds to FROM copies what was there at first", async ([from, to]) => {
    await fill(from, 2500);
    const { pets: animals, advice } = await copy([from, to], async () => {
      await from.query("insert into pets values (2501, 'New', 1, 2)");
    });
    assert.deepEqual([animals.copied, animals.more], [2500, 1]);
    assert.match(advice.join("\n"), /^FROM was written to meanwhile, .*$/);
    assert.equal((await copy([from, to])).pets.copied, 1);
    assertSame(await content(to), await content(from));
  });

  it("revokes a key that was revoked since the last copy", async ([from, to]) => {
    const storage = await from.open();
    const keys = issuedKeys(storage.apiKeys);
    await keys.issue("one");
    await keys.issue("two");
    await copy([from, to]);
    await keys.revoke(1);
    await keys.issue("three");

    const { apiKeys } = await copy([from, to]);
    assert.deepEqual([apiKeys.earlier, apiKeys.copied], [2, 1]);
    assertSame(await content(to), await content(from));

    // The day on which a key was used may differ, because running servers record it.
    const use = "update api_keys set last_used = ";
    await from.query(`${use} case id when 1 then 5 when 3 then 7 end`);
    await to.query(
      `${use} case id when 1 then 4 when 2 then 6 when 3 then 9 end`,
    );
    assert.equal((await copy([from, to])).equal, true);
    const days = (await rowsOf(to, "api_keys")).map((row) => row.last_used);
    assert.deepEqual(days, ["5", "6", "9"]);

    // A key that only TO has revoked stays revoked, and differs.
    await to.query("update api_keys set revoked = 5 where id = 2");
    const again = await copy([from, to]);
    assert.notEqual(again.apiKeys.to.sha256, again.apiKeys.from.sha256);
    const revoked = await to.query("select id from api_keys where revoked = 5");
    assert.equal(revoked.length, 1);
  });
}

for (const way of [ON_FILES, TO_POSTGRES]) {
  const it = onWay(way);
  it(`copy from ${way.join(" to ")} refuses text that is not UTF-8, and says whose`, async ([from, to]) => {
    await fill(from, 3);
    await to.open();
    const storage = await from.open();
    await issuedKeys(storage.apiKeys).issue("one");
    await storage.create(REX, key(1));
    const names = {
      "pets: text of the id 2": [
        "pets set name = ",
        " where id = 2",
        "A\u{fffd}",
      ],
      "API keys: text of the id 1": ["api_keys set name = ", "", "one"],
    };
    for (const [message, [set, where, name]] of Object.entries(names)) {
      await from.query(`update ${set} cast(x'41ff' as text) ${where}`);
      const told = `^Error: Cannot copy ${message} is not UTF-8`;
      await assert.rejects(copy([from, to]), RegExp(told));
      await from.query(`update ${set} '${name}' ${where}`);
    }
    assert.equal((await copy([from, to])).pets.to.count, 4);
    assertSame(await content(to), await content(from));
  });
}

const it = onWay(TO_POSTGRES);

it("copy to PostgreSQL calls no function that another user made there", async ([from, to]) => {
  await fill(from, 2);
  await to.open();
  await to.query(
    `create function json_each(text, out key text, out value json)
      returns setof record language plpgsql as $$ begin
        raise exception 'evil';
      end $$`,
  );
  assert.equal((await copy([from, to])).pets.copied, 2);
});

it("a copy whose connection breaks as it commits cannot tell, and goes on later", async (both) => {
  const [from, to] = both;
  await fill(from, 2500);
  await to.open();
  // The second page stays in its COMMIT.
  await to.query(
    `create function wait() returns trigger language plpgsql as
      'begin perform pg_sleep(50); return null; end'`,
  );
  await to.query(
    `create constraint trigger wait after insert on pets deferrable initially deferred
      for each row when (new.id = 1500) execute function wait()`,
  );
  const told = copy(both).then(() => "It is copied", String);
  const end =
    `select cast(pg_terminate_backend(pid) as text) as done from pg_stat_activity
      where datname = current_database() and query = 'COMMIT' and wait_event = 'PgSleep'`;
  await until("it commits", async () => (await to.query(end)).length > 0);
  assert.match(await told, /copy pets at [^]*\nRun the same command again/);
  await to.query("drop trigger wait on pets");
  const { pets: animals } = await copy(both);
  assert.deepEqual([animals.earlier, animals.copied], [1000, 1500]);
  assertSame(await content(to), await content(from));
});

test("a line is written every 5 s at most, and shows no more than all", () => {
  const lines: string[] = [];
  let time = 0;
  const progress = startProgress("Copying pets", 700, {
    tell: (line) => lines.push(line),
    now: () => time,
  });
  for (let second = 1; second <= 15; second++) {
    for (time of [1000 * second - 1, 1000 * second]) progress(25);
  }
  assert.deepEqual(lines, [
    "Copying pets: 250 of 700",
    "Copying pets: 500 of 700",
    "Copying pets: 700 of 700",
  ]);
});

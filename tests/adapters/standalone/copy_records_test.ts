/** Copies between databases: all of it, at once, and nothing if anything would be missing. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { readLastingDatabase } from "../../../adapters/standalone/config.ts";
import {
  copyAll,
  type Job,
} from "../../../adapters/standalone/copy_records.ts";
import {
  openSource,
  openTarget,
} from "../../../adapters/standalone/open_storage.ts";
import { INT64_MAX, INT64_MIN } from "../../../core/int64.ts";
import { issuedKeys } from "../../../adapters/keys/issued_keys.ts";
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
  type Given,
  isEmpty,
  ON_FILES,
  testsOfCopies,
  TO_POSTGRES,
} from "./copy_places.ts";

const onWay = await testsOfCopies();

/** Copies; `amid` runs once the first page is written. */
async function copy(
  [from, to]: Both,
  options: Pick<Job, "isSnapshot" | "idsFrom"> = {},
  amid?: () => Promise<unknown>,
) {
  let once = amid;
  const source = await openSource(readLastingDatabase(from.url));
  try {
    const target = await openTarget(readLastingDatabase(to.url));
    const notes: string[] = [];
    const hooked: typeof target = {
      ...target,
      fill: (work) =>
        target.fill((write) =>
          work(async (...query) => {
            const rows = await write(...query);
            await once?.();
            once = undefined;
            return rows;
          })
        ),
    };
    const show = (line: string) => void notes.push(line);
    try {
      const job = { from: source, to: hooked, show, ...options };
      return { ...await copyAll(job), notes };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const LACKS = (plural: string) =>
  new RegExp(
    `^Error: Cannot copy: FROM has ${plural} that TO lacks, between .*\\. FROM was written to meanwhile: stop its servers and run the same command again, or use --snapshot$`,
  );

for (const way of [ON_FILES, TO_POSTGRES, FROM_POSTGRES]) {
  const testCopy = (what: string, work: (given: Given) => Promise<void>) =>
    onWay(way)(`copy from ${way.join(" to ")} ${what}`, work);

  testCopy("keeps all pets and keys", async ([from, to, folder]) => {
    const storage = await from.open();
    const extremes = [INT64_MIN, -(2n ** 53n) - 1n, -1n, 0n, INT64_MAX];
    const pets = [
      ...fc.sample(anyNewPet, { numRuns: 300, seed: 20261121 }),
      ...DELICATE_NAMES.flatMap((name) =>
        extremes.map((categoryId) => ({ ...REX, name, categoryId }))
      ),
    ];
    await Promise.all(pets.map((pet) => storage.create(newPet(pet))));
    await Promise.all([1, 2].map((i) => storage.create(REX, key(i))));
    const keys = issuedKeys(storage.apiKeys);
    const issued = [];
    for (const name of ["phone", "lost", 'e\u0301 "\u{1f415}"']) {
      issued.push(await keys.issue(name));
    }
    await keys.revoke(2);
    await storage.apiKeys.markUsed?.(3, new Date(86_400_000));
    for (const id of [2n ** 53n + 1n, INT64_MAX]) {
      await from.query(`insert into pets values (${id}, 'Far', 1, 2)`);
    }

    const before = await content(from);
    const { notes: _, ...counts } = await copy([from, to]);
    assert.deepEqual(counts, {
      pets: pets.length + 4,
      apiKeys: 3,
      idempotencyKeys: 2,
      lastId: INT64_MAX,
    });
    assertSame(await content(from), before);
    assertSame(await content(to), before);
    const left = readdirSync(folder).filter((file) => /partial/.test(file));
    assert.deepEqual(left, []);

    const after = await to.open();
    // The storage may be closed before the use of a key is noted.
    const theirs = issuedKeys(after.apiKeys, { onError() {} });
    const valid = await Promise.all(
      issued.map(({ key }) => theirs.verify(key)),
    );
    assert.deepEqual(valid, [{ id: 1 }, false, { id: 3 }]);
  });

  testCopy(
    "replays what FROM has added with an idempotency key",
    async ([from, to]) => {
      const before = await from.open();
      await Promise.all(
        Array.from({ length: 1100 }, (_, i) => before.create(REX, key(i))),
      );
      const last = await before.create(REX, key(1099));
      const { idempotencyKeys } = await copy([from, to]);
      assert.equal(idempotencyKeys, 1100);

      const after = await to.open();
      assert.deepEqual(await after.create(REX, key(1099)), last);
      assert.equal(last.replayed, true);
      const next = await after.create(REX, key(1100));
      assert.deepEqual([next.id, next.replayed], [1101n, undefined]);
    },
  );

  testCopy(
    "copies an empty database, and begins with the same ids",
    async ([from, to]) => {
      await (await from.open()).close();
      const { pets, lastId } = await copy([from, to], { isSnapshot: true });
      assert.deepEqual([pets, lastId], [0, 0n]);
      assert.equal((await (await to.open()).create(REX)).id, 1n);
    },
  );

  testCopy(
    "gives no id again, not even that of what is gone, or goes meanwhile",
    async ([from, to]) => {
      const before = await from.open();
      for (let i = 0; i < 5; i++) {
        await before.create(REX);
        await issuedKeys(before.apiKeys).issue("key");
      }
      await from.query("delete from pets where id > 2");
      await from.query("delete from api_keys");

      await copy([from, to], {}, async () => {
        await before.create(REX);
        await from.query("delete from pets where id in (1, 6)");
      });
      const after = await to.open();
      assert.equal((await after.create(REX)).id, 7n);
      const { record } = await issuedKeys(after.apiKeys).issue("next");
      assert.equal(record.id, 6);
    },
  );

  testCopy(
    "gives ids from a number that is above all that FROM gave",
    async ([from, to]) => {
      await fill(from, 3);
      await from.query("delete from pets where id = 3");
      const known = way[0] === "SQLite" ? 3 : 2; // PostgreSQL did not give these ids
      await assert.rejects(
        copy([from, to], { idsFrom: BigInt(known) }),
        new Error(
          `Cannot give ids from ${known}: the last id was ${known}, and ids are never reused`,
        ),
      );
      assert.equal(await isEmpty(to), true);
      await copy([from, to], { idsFrom: INT64_MAX });
      assert.equal((await (await to.open()).create(REX)).id, INT64_MAX);
    },
  );

  const meanwhile = {
    "pets": "insert into pets values (2501, 'New', 1, 2)",
    "API keys":
      "insert into api_keys values (2, 'n', 'd', 1, null, null, null)",
    "idempotency keys": "insert into idempotency_keys values ('k', 1, 1)",
  };
  for (const [plural, sql] of Object.entries(meanwhile)) {
    testCopy(
      `fails, and leaves TO empty, if FROM has new ${plural} at its end`,
      async (given) => {
        const [from, to] = given;
        await fill(from, 2500);
        await (await from.open()).apiKeys.insert(RECORD);
        const add = () => from.query(sql);
        await assert.rejects(copy(given, {}, add), LACKS(plural));
        assert.equal(await isEmpty(to), true);
        await copy(given);
        assertSame(await content(to), await content(from));
      },
    );
  }

  testCopy(
    "fails if a key is revoked meanwhile, but not if it is used or a pet goes",
    async (given) => {
      const [from, to] = given;
      await fill(from, 3);
      await (await from.open()).apiKeys.insert(RECORD);
      const revoke = () => from.query("update api_keys set revoked = 5");
      await assert.rejects(copy(given, {}, revoke), LACKS("API keys"));
      assert.equal(await isEmpty(to), true);
      await copy(given, {}, async () => {
        await from.query("update api_keys set last_used = 86400000");
        await from.query("delete from pets where id = 2");
      });
      assert.equal(await countPets(to), 3);
    },
  );

  testCopy(
    "with --snapshot copies one state while FROM goes on",
    async (given) => {
      const [from, to] = given;
      await fill(from, 2500);
      const storage = await from.open();
      await storage.apiKeys.insert(RECORD);
      const before = await content(from);
      const { pets, lastId } = await copy(
        given,
        { isSnapshot: true },
        async () => {
          await from.query("insert into pets values (2501, 'New', 1, 2)");
          await from.query("delete from pets where id = 2400");
          await storage.apiKeys.insert({ ...RECORD, digest: "2" });
        },
      );
      assert.deepEqual([pets, lastId], [2500, 2500n]);
      assertSame(await content(to), before);
    },
  );

  testCopy(
    "refuses a TO that is not empty, and changes nothing there",
    async (given) => {
      const [from, to] = given;
      await fill(from, 3);
      const rows = [
        "insert into pets values (7, 'Other', 1, 0)",
        "insert into api_keys values (1, 'n', 'd', 1, null, null, null)",
        "insert into idempotency_keys values ('k', 1, 1)",
      ];
      await (await to.open()).close();
      for (const sql of rows) {
        await to.query(sql);
        const before = await content(to);
        await assert.rejects(
          copy(given),
          /^Error: Cannot copy: (?:TO already has pets or keys\. Name an empty database|.*b\.db exists already; name a new file, or move that one away)$/,
          sql,
        );
        assertSame(await content(to), before);
        for (const table of ["pets", "api_keys", "idempotency_keys"]) {
          await to.query(`delete from ${table}`);
        }
      }
    },
  );

  testCopy("refuses rows with ids below 1", async (given) => {
    const [from, to] = given;
    await fill(from, 3);
    const zero = "insert into pets values (0, 'Zero', 1, 0)";
    const least =
      `insert into api_keys values (${INT64_MIN}, 'n', 'd', 1, null, null, null)`;
    const cases = [
      ["pets", zero, "delete from pets where id = 0"],
      ["API keys", least, "delete from api_keys"],
    ] as const;
    for (const [what, sql, undo] of cases) {
      await from.query(sql);
      await assert.rejects(
        copy(given),
        new RegExp(`^Error: Cannot copy ${what} with ids below 1, such as`),
        what,
      );
      await from.query(undo);
      assert.equal(await isEmpty(to), true, what);
    }
    assert.equal((await copy(given)).pets, 3);
  });

  testCopy("shows how far it is", async (given) => {
    const [from] = given;
    await fill(from, 2500);
    const { notes } = await copy(given);
    assert.deepEqual(notes, [
      "Copying pets: 1000 of 2500",
      "Copying pets: 2000 of 2500",
      "Copying pets: 2500 of 2500",
      "Comparing pets: 1000 of 2500",
      "Comparing pets: 2000 of 2500",
      "Comparing pets: 2500 of 2500",
    ]);
  });
}

const RECORD = { name: "key", digest: "1", created: new Date(5000) };

for (const way of [ON_FILES, TO_POSTGRES]) {
  const onThisWay = { test: onWay(way) };
  onThisWay.test(
    `copy from ${
      way.join(" to ")
    } refuses text that is not UTF-8, and says whose`,
    async ([from, to]) => {
      await fill(from, 3);
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
        await assert.rejects(copy([from, to]), RegExp(told), message);
        await from.query(`update ${set} '${name}' ${where}`);
      }
      assert.equal((await copy([from, to])).pets, 4);
      assertSame(await content(to), await content(from));
    },
  );
}

const toPostgres = { test: onWay(TO_POSTGRES) };

toPostgres.test("copy to PostgreSQL calls no function that another user made there", async ([from, to]) => {
  await fill(from, 2);
  await to.open();
  await to.query(
    `create function json_each(text, out key text, out value json)
      returns setof record language plpgsql as $$ begin
        raise exception 'evil';
      end $$`,
  );
  assert.equal((await copy([from, to])).pets, 2);
});

toPostgres.test("copy to PostgreSQL fails if TO has a trigger that drops or changes pets", async ([from, to]) => {
  await fill(from, 1500);
  await to.open();
  const bodies = {
    "if new.id = 1234 then return null; end if; return new;":
      /^Error: Cannot copy: TO has kept 1499 of 1500 pets\. Look for triggers there$/,
    "if new.id = 1234 then new.id = 12340; end if; return new;": LACKS(
      "pets",
    ),
  };
  for (const [body, message] of Object.entries(bodies)) {
    await to.query(
      `create or replace function spoil() returns trigger language plpgsql as
        'begin ${body} end'`,
    );
    await to.query(
      "create or replace trigger spoil before insert on pets for each row execute function spoil()",
    );
    await assert.rejects(copy([from, to]), message, body);
    assert.equal(await isEmpty(to), true, body);
  }
});

toPostgres.test("copy to PostgreSQL keeps servers there from adding pets meanwhile", async ([from, to]) => {
  await fill(from, 1500);
  const server = await to.open();
  let create: Promise<unknown> = Promise.resolve();
  await copy([from, to], {}, async () => {
    create = server.create(REX);
    assert.equal(await isEmpty(to), true);
    const waiting = `select cast(pid as text) as pid from pg_stat_activity
      where wait_event = 'advisory' and datname = current_database()`;
    const waits = async () => (await to.query(waiting)).length > 0;
    await until("the create waits for its turn", waits);
  });
  const id = await create.then((pet) => (pet as { id: bigint }).id);
  assert.equal(id, 1501n);
});

toPostgres.test("a copy whose connection breaks as it commits cannot tell", async (both) => {
  const [from, to] = both;
  await fill(from, 2500);
  await to.open();
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
  assert.match(await told, /Outcome unknown \(copy at /);
  await to.query("drop trigger wait on pets");
  assert.equal(await isEmpty(to), true);
  assert.equal((await copy(both)).pets, 2500);
});

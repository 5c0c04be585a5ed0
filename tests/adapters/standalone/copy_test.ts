import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { INT64_MAX, INT64_MIN } from "../../../core/pets/int64.ts";
import { issuedKeys } from "../../../core/keys/issued_keys.ts";
import {
  anyNewPet,
  DELICATE_NAMES,
} from "../../contract/pet_storage_contract.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { until } from "../../support/postgres/until.ts";
import {
  assertSame,
  content,
  countPets,
  fill,
  holdInTheMiddle,
  petLines,
  type Place,
  postgresPlace,
  sqlitePlace,
} from "./place.ts";
import { inNewFolder, runMain, runToEnd } from "./program.ts";
import { newPet } from "../../support/new_pet.ts";

const { skip, newDatabase } = await sharedPostgres();
const timeout = 120_000;

/** Where a copy goes from and to. */
interface Way {
  readonly title: string;
  readonly skip: string | false;
  /** Makes both places; the first has tables. */
  readonly places: (folder: string) => Promise<readonly [Place, Place]>;
}

const sqlite = (folder: string, name: string) =>
  sqlitePlace(join(folder, name));
const postgres = async () => postgresPlace(await newDatabase());

const toSqlite: Way = {
  title: "from SQLite to SQLite",
  skip: false,
  places: async (folder) => [
    sqlite(folder, "from.db"),
    sqlite(folder, "to.db"),
  ],
};
const WAYS: readonly Way[] = [
  toSqlite,
  {
    title: "from SQLite to PostgreSQL",
    skip,
    places: async (folder) => [sqlite(folder, "from.db"), await postgres()],
  },
  {
    title: "from PostgreSQL to SQLite",
    skip,
    places: async (folder) => [await postgres(), sqlite(folder, "to.db")],
  },
];

function copyArguments(from: Place, to: Place): readonly string[] {
  return ["copy", from.address, to.address];
}

/** Copies, to the end and without a fault, and returns what `--json` says. */
async function copy(from: Place, to: Place, cwd: string) {
  const args = [...copyArguments(from, to), "--json"];
  const { code, stdout, stderr } = await runToEnd(args, { cwd });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Copies, and is refused. */
async function copyInVain(from: Place, to: Place, cwd: string) {
  const run = await runToEnd(copyArguments(from, to), { cwd });
  assert.equal(run.code, 1, run.stderr);
  assert.doesNotMatch(run.stderr, /^ +at /m);
  return run;
}

/** A copy that has come to the middle, and is held there. */
async function copyToTheMiddle(from: Place, to: Place, cwd: string) {
  const total = await countPets(from);
  const opened = await to.open(); // so that there is a table to look at
  await opened.close();
  const program = runMain(copyArguments(from, to), { cwd });
  const held = await holdInTheMiddle(to, total);
  return { program, held, total };
}

for (const { title, skip, places } of WAYS) {
  const options = { skip, timeout };

  test(`copy ${title} keeps every animal exactly`, options, async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = await places(cwd);
      const storage = await from.open();
      const extremes = [INT64_MIN, -(2n ** 53n) - 1n, -1n, 0n, INT64_MAX];
      const pets = [
        ...fc.sample(anyNewPet, { numRuns: 300, seed: 20261121 }),
        ...DELICATE_NAMES.flatMap((name, i) =>
          extremes.map((categoryId) => ({
            name,
            categoryId,
            status: (["available", "pending", "sold"] as const)[i % 3] ??
              "sold",
          }))
        ),
      ];
      await Promise.all(pets.map((pet) => storage.create(newPet(pet))));
      await storage.close();
      for (const id of [2n ** 53n + 1n, INT64_MAX]) {
        await from.query(
          `insert into pets (id, name, category_id, status) values (${id}, 'Far', 1, 2)`,
        );
      }

      const before = await content(from);
      const result = await copy(from, to, cwd);
      assertSame(await content(from), before);
      assertSame(await content(to), before);
      assert.equal(before.pets.length, pets.length + 2);
      assert.equal(result.animals.copied, before.pets.length);
    });
  });

  test(
    `copy ${title} keeps valid keys valid and revoked keys revoked`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        const before = await from.open();
        const issued = [];
        for (const name of ["phone", "lost", 'e\u0301 "\u{1f415}"']) {
          issued.push(await issuedKeys(before.apiKeys).issue(name));
        }
        await issuedKeys(before.apiKeys).revoke(2);
        await before.close();

        await copy(from, to, cwd);
        assertSame(await content(to), await content(from));
        const after = await to.open();
        const keys = issuedKeys(after.apiKeys);
        const valid = await Promise.all(
          issued.map(({ key }) => keys.verify(key)),
        );
        assert.deepEqual(valid, [true, false, true]);
        assert.equal((await keys.issue("new")).record.id, 4);
        await after.close();
      });
    },
  );

  test(
    `copy ${title} gives no id again, not even that of what is gone`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        const before = await from.open();
        const rex = { name: "Rex", categoryId: 1n, status: "sold" } as const;
        for (let i = 0; i < 5; i++) {
          await before.create(newPet(rex));
          await issuedKeys(before.apiKeys).issue("key");
        }
        await before.close();
        await from.query("delete from pets where id > 2");
        await from.query("delete from api_keys");

        await copy(from, to, cwd);
        const after = await to.open();
        const keys = issuedKeys(after.apiKeys);
        assert.equal((await after.create(newPet(rex))).id, 6n);
        assert.equal((await after.create(newPet(rex))).id, 7n);
        assert.equal((await keys.issue("next")).record.id, 6);
        await after.close();
      });
    },
  );

  test(
    `copy ${title} tells the count and the SHA-256 of both sides`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        await fill(from, 12_345);
        const sha256 = createHash("sha256").update(
          petLines(await content(from)),
        ).digest("hex");
        const side = { count: 12_345, sha256 };
        const none = { count: 0, sha256: sha256Of("") };
        assert.deepEqual(await copy(from, to, cwd), {
          animals: {
            there: 0,
            copied: 12_345,
            from: side,
            to: side,
            more: 0,
          },
          apiKeys: { there: 0, copied: 0, from: none, to: none, more: 0 },
          equal: true,
        });
        // Again: there is nothing left to do.
        const again = await runToEnd(copyArguments(from, to), { cwd });
        assert.equal(again.code, 0);
        assert.equal(
          again.stdout.split(`12345  SHA-256 ${sha256}\n`).length,
          3,
        );
        assert.match(
          again.stdout,
          /^Copied pets: 0 \(after 12345 that were there\), API keys: 0\n/,
        );
      });
    },
  );

  test(
    `copy ${title}, killed in the middle, goes on there the next time`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        await fill(from, 30_000);
        const { program, held } = await copyToTheMiddle(from, to, cwd);
        program.kill("SIGKILL");
        await program.exited;
        await held.commit();

        const there = await countPets(to);
        assert.ok(there >= held.count && there < 30_000);
        const run = await runToEnd([...copyArguments(from, to), "--json"], {
          cwd,
        });
        assert.equal(run.code, 0, run.stderr);
        assert.match(
          run.stderr,
          new RegExp(`TO has ${there} pets of FROM already`),
        );
        const { animals } = JSON.parse(run.stdout);
        assert.deepEqual(
          [animals.there, animals.copied],
          [there, 30_000 - there],
        );
        assertSame(await content(to), await content(from));
      });
    },
  );

  test(
    `copy ${title} leaves alone what is not FROM's, and says where it begins`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        await fill(from, 2500);
        await fill(to, 2000);
        for (
          const [sql, id] of [
            ["update pets set name = 'Other' where id = 1700", 1700],
            ["update pets set name = 'Animal 1700' where id = 1700", undefined],
            ["update pets set category_id = 0 where id = 1", 1],
            ["update pets set category_id = 1000003 where id = 1", undefined],
            ["delete from pets where id = 3", 4],
            ["insert into pets values (3, 'Animal 3', 3000009, 0)", undefined],
            ["insert into pets values (2502, 'Later', 1, 0)", 2502],
            ["delete from pets where id = 2502", undefined],
            ["insert into api_keys values (1, 'n', 'd', 1, null)", 1],
          ] as const
        ) {
          await to.query(sql);
          if (id === undefined) continue; // as it was
          const before = await content(to);
          const { stderr, stdout } = await copyInVain(from, to, cwd);
          assert.match(
            stderr,
            new RegExp(
              `TO has (?:pets|API keys) that FROM does not have: they differ from the id ${id} on`,
            ),
          );
          assert.equal(stdout, "");
          assertSame(await content(to), before);
        }
        // With all of that undone it is the beginning of FROM again.
        await to.query("delete from api_keys");
        assert.equal((await copy(from, to, cwd)).animals.copied, 500);
      });
    },
  );

  test(
    `copy ${title} stops where another program adds animals to TO`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        await fill(from, 30_000);
        const { program, held } = await copyToTheMiddle(from, to, cwd);
        await held.query(
          "insert into pets (id, name, category_id, status) values (40000, 'Alien', 1, 2)",
        );
        await held.commit();
        assert.equal(await program.exited, 1);
        assert.match(program.stderr(), /TO is being written to/);
        assert.equal(await countPets(to), held.count + 1);
      });
    },
  );

  test(
    `copy ${title} while a server adds to FROM copies what was there at first, and says what is left`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        await fill(from, 30_000);
        const { program, held } = await copyToTheMiddle(from, to, cwd);
        await from.query(
          "insert into pets values (30001, 'New', 1, 2), (30002, 'Newer', 1, 2)",
        );
        await held.commit();
        assert.equal(await program.exited, 0, program.stderr());
        assert.match(
          program.stdout(),
          /FROM was written to meanwhile: it has more now \(pets: 2, API keys: 0\)/,
        );
        assert.equal(await countPets(to), 30_000);

        const again = await copy(from, to, cwd);
        assert.equal(again.animals.copied, 2);
        assertSame(await content(to), await content(from));
      });
    },
  );

  test(
    `copy ${title} ends with 1 where TO has not kept an animal as it was`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        await fill(from, 1500);
        await (await to.open()).close();
        await changeOnInsert(to);
        const { stdout, stderr } = await copyInVain(from, to, cwd);
        const sums = [...stdout.matchAll(/1500 {2}SHA-256 (\w{64})/g)].map((
          [, sum],
        ) => sum);
        assert.equal(sums.length, 2);
        assert.notEqual(sums[0], sums[1]);
        assert.match(stderr, /TO is not the same as FROM/);
      });
    },
  );

  test(
    `copy ${title} revokes a key that was revoked since the last copy`,
    options,
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await places(cwd);
        const storage = await from.open();
        const keys = issuedKeys(storage.apiKeys);
        await keys.issue("one");
        const { key } = await keys.issue("two");
        await copy(from, to, cwd);
        await keys.revoke(2);
        await keys.issue("three");
        await storage.close();

        const { apiKeys } = await copy(from, to, cwd);
        assert.deepEqual([apiKeys.there, apiKeys.copied], [2, 1]);
        assertSame(await content(to), await content(from));
        const after = await to.open();
        assert.equal(await issuedKeys(after.apiKeys).verify(key), false);
        await after.close();

        // A key that only TO has revoked is no longer a copy of FROM's.
        await to.query("update api_keys set revoked = 5 where id = 1");
        const { stderr } = await copyInVain(from, to, cwd);
        assert.match(stderr, /TO has API keys that FROM does not have/);
      });
    },
  );
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A database that keeps something else than it is given. */
async function changeOnInsert(place: Place): Promise<void> {
  if (place.address.startsWith("sqlite:")) {
    await place.query(
      `create trigger spoil after insert on pets when new.id = 1234
        begin update pets set category_id = 0 where id = 1234; end`,
    );
    return;
  }
  await place.query(
    `create function spoil() returns trigger language plpgsql as
      'begin if new.id = 1234 then new.category_id = 0; end if; return new; end'`,
  );
  await place.query(
    `create trigger spoil before insert on pets for each row execute function spoil()`,
  );
}

test(
  "copy from SQLite to PostgreSQL and back gives the file's animals and keys",
  { skip, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, there] = [sqlite(cwd, "from.db"), await postgres()];
      const back = sqlite(cwd, "back.db");
      await fill(from, 10_000);
      const storage = await from.open();
      const { key } = await issuedKeys(storage.apiKeys).issue("phone");
      await storage.close();
      const first = await copy(from, there, cwd);
      const second = await copy(there, back, cwd);
      assert.equal(first.animals.to.sha256, second.animals.to.sha256);
      assert.equal(first.apiKeys.to.sha256, second.apiKeys.to.sha256);
      assertSame(await content(back), await content(from));
      const after = await back.open();
      assert.equal(await issuedKeys(after.apiKeys).verify(key), true);
      await after.close();
    });
  },
);

test(
  "copy from one PostgreSQL database to another of the same server keeps all",
  { skip, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = [await postgres(), await postgres()];
      await fill(from, 3000);
      const storage = await from.open();
      await issuedKeys(storage.apiKeys).issue("phone");
      await storage.close();
      await copy(from, to, cwd);
      assertSame(await content(to), await content(from));
      assert.equal((await copy(from, to, cwd)).animals.there, 3000);
    });
  },
);

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  test(
    `${signal} stops a copy, which says how to go on`,
    { timeout },
    async () => {
      await inNewFolder(async (cwd) => {
        const [from, to] = await toSqlite.places(cwd);
        await fill(from, 100_000);
        const { program, held, total } = await copyToTheMiddle(from, to, cwd);
        await held.commit();
        program.kill(signal);
        assert.equal(await program.exited, code);
        assert.match(
          program.stderr(),
          /^Stopped\. Run the same command again: it goes on after the last pet/m,
        );
        const there = await countPets(to);
        assert.ok(there < total, "it stopped before the end");
        const { animals } = await copy(from, to, cwd);
        assert.equal(animals.there, there);
      });
    },
  );
}

test(
  "a copy that loses the connection says that running it again goes on",
  { skip, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = [sqlite(cwd, "from.db"), await postgres()];
      await fill(from, 30_000);
      const { program, held } = await copyToTheMiddle(from, to, cwd);
      await to.query(
        `select cast(pg_terminate_backend(pid) as text) as done from pg_stat_activity
          where datname = current_database() and application_name = 'petstore'`,
      );
      assert.equal(await program.exited, 1);
      await held.commit();
      assert.match(
        program.stderr(),
        /Cannot copy pets at .*\nRun the same command again: it goes on/,
      );
      const { animals } = await copy(from, to, cwd);
      assert.equal(animals.there, held.count);
      assertSame(await content(to), await content(from));
    });
  },
);

test(
  "a copy that loses the connection while it commits says that it cannot tell, and goes on the next time",
  { skip, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = [sqlite(cwd, "from.db"), await postgres()];
      await fill(from, 3000);
      await (await to.open()).close();
      // The second page stays in its COMMIT.
      await to.query(
        `create function wait() returns trigger language plpgsql as
          'begin perform pg_sleep(50); return null; end'`,
      );
      await to.query(
        `create constraint trigger wait after insert on pets deferrable initially deferred
          for each row when (new.id = 1500) execute function wait()`,
      );
      const program = runMain(copyArguments(from, to), { cwd });
      const committing =
        `from pg_stat_activity where datname = current_database()
          and query = 'COMMIT' and wait_event = 'PgSleep'`;
      await until("it commits", async () => {
        const found = await to.query(
          `select cast(pid as text) as pid ${committing}`,
        );
        return found.length > 0;
      });
      await to.query(
        `select cast(pg_terminate_backend(pid) as text) as done ${committing}`,
      );
      assert.equal(await program.exited, 1);
      assert.match(
        program.stderr(),
        /^Cannot tell the outcome \(copy pets at .*\): .*\nRun the same command again/,
      );
      await to.query("drop trigger wait on pets");
      const { animals } = await copy(from, to, cwd);
      assert.deepEqual([animals.there, animals.copied], [1000, 2000]);
    });
  },
);

test(
  "copy refuses a FROM that is not there, and makes none",
  { timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = await toSqlite.places(cwd);
      const missing = await copyInVain(from, to, cwd);
      assert.match(missing.stderr, /There is no database at from\.db/);
      assert.equal(existsSync(join(cwd, "from.db")), false);
      assert.equal(existsSync(join(cwd, "to.db")), false);

      writeFileSync(join(cwd, "from.db"), "");
      await copyInVain(from, to, cwd);
      assert.equal(readFileSync(join(cwd, "from.db")).length, 0);
    });
  },
);

test(
  "copy refuses a PostgreSQL database without tables as FROM, and makes none",
  { skip, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = [await postgres(), sqlite(cwd, "to.db")];
      const { stderr } = await copyInVain(from, to, cwd);
      assert.match(stderr, /it has no tables of this program/);
      const tables = await from.query(
        "select tablename from pg_tables where schemaname = 'public'",
      );
      assert.deepEqual(tables, []);
      assert.equal(existsSync(join(cwd, "to.db")), false);
    });
  },
);

test("copy leaves the file of another program alone", { timeout }, async () => {
  await inNewFolder(async (cwd) => {
    const [from, to] = await toSqlite.places(cwd);
    await fill(from, 3);
    await to.query("create table notes (text)");
    const { stderr } = await copyInVain(from, to, cwd);
    assert.match(stderr, /database of another program/);
    const tables = await to.query("select name from sqlite_schema");
    assert.deepEqual(tables.map(({ name }) => name), ["notes"]);
  });
});

test("copy refuses one database by two addresses", { timeout }, async () => {
  await inNewFolder(async (cwd) => {
    const [from] = await toSqlite.places(cwd);
    await fill(from, 3);
    execFileSync("ln", ["-s", "from.db", join(cwd, "link.db")]);
    for (const to of ["from.db", "./from.db", "link.db"]) {
      const run = await copyInVain(from, sqlite(cwd, to), cwd);
      assert.match(run.stderr, /FROM and TO are the same database/);
    }
  });
});

test(
  "copy refuses one PostgreSQL database by two addresses",
  { skip, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const from = await postgres();
      await fill(from, 3);
      const to = { ...from, address: `${from.address}?connection_limit=3` };
      const run = await copyInVain(from, to, cwd);
      assert.match(run.stderr, /FROM and TO are the same database/);
      assert.equal(await countPets(from), 3);
    });
  },
);

for (
  const [title, args, code, message] of [
    ["one address", ["sqlite:a.db"], 2, /copy takes two addresses/],
    ["three", ["sqlite:a", "sqlite:b", "sqlite:c"], 2, /takes two addresses/],
    ["an unknown option", ["--fast", "sqlite:a", "sqlite:b"], 2, /--fast/],
    ["memory as FROM", ["memory:", "sqlite:b"], 1, /^FROM must be .*memory:/],
    ["memory as TO", ["sqlite:a", "memory:"], 1, /^TO must be .*memory:/],
    [
      "another scheme",
      ["mysql://u:s3cret@h/d", "sqlite:b"],
      1,
      /^FROM must be/,
    ],
  ] as const
) {
  test(`copy refuses ${title} with a message`, { timeout }, async () => {
    await inNewFolder(async (cwd) => {
      const run = await runToEnd(["copy", ...args], { cwd });
      assert.equal(run.code, code);
      assert.match(run.stderr, message);
      assert.doesNotMatch(run.stderr, /DATABASE_URL|s3cret|^ +at /m);
      assert.equal(run.stdout, "");
      assert.equal(existsSync(join(cwd, "b")), false);
    });
  });
}

test("copy --help shows how to use it", { timeout }, async () => {
  await inNewFolder(async (cwd) => {
    for (const args of [["copy", "--help"], ["copy"]]) {
      const run = await runToEnd(args, { cwd });
      assert.equal(run.code, 0);
      assert.match(run.stdout, /copy FROM TO/);
    }
  });
});

const PASSWORD = "s3cret%2Fpassword";
const SHOWN = /s3cret/;

for (
  const [title, parameters] of [
    ["an address that is wrong", "?sslmode=maybe"],
    ["a server that is not there", ""],
  ] as const
) {
  test(`copy never shows a password, of ${title}`, { timeout }, async () => {
    await inNewFolder(async (cwd) => {
      const [from] = await toSqlite.places(cwd);
      await fill(from, 3);
      const address = `postgres://me:${PASSWORD}@127.0.0.1:1/d${parameters}`;
      for (const args of [[from.address, address], [address, from.address]]) {
        const run = await runToEnd(["copy", ...args], { cwd });
        assert.equal(run.code, 1);
        assert.match(run.stderr, /^(?:FROM|TO) is wrong|Cannot open/);
        assert.doesNotMatch(run.stdout + run.stderr, SHOWN);
      }
    });
  });
}

/** Erases the rest of a terminal's line. */
const ERASE = "\x1b[K";
const scriptMissing = hasScript() ? false : "script is not installed";

function hasScript(): boolean {
  try {
    execFileSync("script", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test(
  "copy never shows a password, on a terminal or without",
  { skip: skip || scriptMissing, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = [sqlite(cwd, "from.db"), await postgres()];
      await fill(from, 3000);
      const url = new URL(to.address);
      url.password ||= PASSWORD; // a server that trusts everybody asks for none
      for (const terminal of [true, false]) {
        const run = await runToEnd(["copy", from.address, url.href], {
          cwd,
          terminal,
        });
        assert.equal(run.code, 0, run.stdout + run.stderr);
        assert.match(run.stdout, /Copied/);
        assert.equal((run.stdout + run.stderr).includes(url.password), false);
        assert.doesNotMatch(run.stdout + run.stderr, SHOWN);
      }
    });
  },
);

test(
  "copy shows a bar on a terminal, in one line that it writes again",
  { skip: scriptMissing, timeout },
  async () => {
    await inNewFolder(async (cwd) => {
      const [from, to] = await toSqlite.places(cwd);
      await fill(from, 30_000);
      const { stdout } = await runToEnd(copyArguments(from, to), {
        cwd,
        terminal: true,
      });
      const copying = stdout.split(/[\r\n]+/).filter((line) =>
        line.startsWith("Copying")
      );
      assert.ok(copying.every((line) => line.endsWith(ERASE)));
      assert.match(
        copying[0] ?? "",
        /^Copying +\[-+\] {2}0% {2}0 of 30000 pets/,
      );
      assert.match(
        copying.at(-1) ?? "",
        /^Copying +\[#+\] {2}100% {2}30000 of 30000 pets {2}\d+\/s/,
      );
      assert.ok(copying.length > 2);
      // A newline only after the last.
      assert.equal(stdout.match(/pets[^\r\n]*\r?\n/g)?.length, 3);
    });
  },
);

test("copy writes no control characters where there is no terminal", {
  timeout,
}, async () => {
  await inNewFolder(async (cwd) => {
    const [from, to] = await toSqlite.places(cwd);
    await fill(from, 3000);
    const run = await runToEnd(copyArguments(from, to), { cwd });
    assert.equal(run.code, 0);
    assert.equal(run.stderr, "");
    assert.match(run.stdout, /^[\x20-\x7e\n]+$/);
  });
});

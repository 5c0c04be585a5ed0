/**
 * What docs/operating.md tells operators to type, on both databases: a backup is restored, and a
 * pet is removed.
 */
import assert from "node:assert/strict";
import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import type { PetDatabase } from "../../adapters/storage/pet_database.ts";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/mod.ts";
import { issuedKeys } from "../../adapters/keys/issued_keys.ts";
import type { Page } from "../../core/pets/page.ts";
import { petId } from "../../core/pets/pet.ts";
import { findBinaries } from "../support/postgres/binaries.ts";
import { PATIENT, sharedPostgres } from "../support/postgres/shared.ts";
import { runSql } from "../support/postgres/sql.ts";
import { key, newPet, REX, REX_JSON } from "../support/pets.ts";
import { readText } from "../support/repository.ts";
import { until } from "../support/time.ts";
import { ask } from "../contract/ask.ts";
import { run } from "../support/process.ts";
import { missing, skipping, testUnless } from "../support/runtime.ts";
import { runMain, startMain } from "../support/standalone.ts";
import { newFolder } from "../support/temporary_directory.ts";

const { skip, emptyDatabase } = await sharedPostgres();
const page = readText("docs/operating.md");

/** `pg_dump` must not be older than the server; the npm package has none. */
const binaries = await findBinaries();
const PG = binaries.missing === false ? binaries.folder : "";
const PATH = `${PG}:${process.env.PATH}`;
const noDump = skip || skipping(
  !existsSync(join(PG, "pg_dump")) &&
    "There is no pg_dump; TEST_POSTGRES_BIN may name a folder that has it",
);

/** The commands of a section, one per line. */
function commandsOf(heading: string): readonly string[] {
  const [, section = ""] = page.split(`\n${heading}\n`);
  const [own = ""] = section.split(/^#/m);
  const blocks = own.matchAll(/^ *```sh\n([^]*?)^ *```$/gm);
  return Array.from(blocks, ([, text = ""]) => text).join("").trimEnd()
    .split("\n").map((line) => line.trim());
}

/** A database, what its commands begin with, and how a backup replaces it. */
const PLACES = {
  SQLite: {
    noDump: false as string | false,
    noShell: missing("sqlite3"),
    commands: /^(?:sqlite3|deno) /,
    url: async () => "sqlite:petstore.db",
    open: (_: string, cwd: string) => sqliteStorage(join(cwd, "petstore.db")),
    restore(cwd: string): void {
      for (const end of ["", "-wal", "-shm"]) {
        const file = join(cwd, `petstore.db${end}`);
        if (existsSync(file)) renameSync(file, `${file}.away`);
      }
    },
  },
  PostgreSQL: {
    noDump,
    noShell: skip || missing("psql"),
    commands: /^(?:psql|pg_dump|pg_restore) /,
    url: emptyDatabase,
    open: (url: string) => postgresStorage(url, PATIENT),
    restore(): void {},
  },
};

type Place = (typeof PLACES)[keyof typeof PLACES];

/** Opens a database in a new folder, for a server and for commands. */
async function operate(
  t: TestContext,
  place: Place,
  env: Readonly<Record<string, string>> = { PATH },
) {
  const cwd = newFolder(t);
  const url = await place.url();
  /** Runs the commands of a section that are for this database. */
  async function type(heading: string): Promise<void> {
    const all = commandsOf(heading).filter((line) => place.commands.test(line));
    assert.notEqual(all.length, 0);
    for (const line of all) {
      const task = /^deno task (.*)/.exec(line)?.[1];
      const words = line.replace(/postgres:\S+/, url);
      const { code, stderr } = task === undefined
        ? await run(["bash", "-c", words], { cwd, env })
        : await runMain(task.split(" "), {
          cwd,
          env: { ...env, DATABASE_URL: url },
        });
      assert.equal(code, 0, `${line}: ${stderr}`);
    }
  }
  return { cwd, url, type, storage: await place.open(url, cwd) };
}

test("operating.md finds the key that added too many pets, and revokes it", async (t) => {
  const server = await startMain(t);
  const { cwd } = server;
  const issued: string[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const issue = ["keys", "issue", name, "--quiet"];
    issued.push((await runMain(issue, { cwd })).stdout.trim());
  }
  const add = async (number: number, count: number) => {
    const own = { ...server, key: issued[number - 1] };
    let last = 0;
    for (let i = 0; i < count; i++) {
      last = (await ask(own, "POST", "/v1/pets", { body: REX_JSON })).status;
    }
    return last;
  };
  await add(1, 2);
  await add(3, 12);
  await add(4, 3);
  const lines = () => server.stdout().match(/"status":201/g)?.length;
  await until("all is logged", () => lines() === 17);
  writeFileSync(join(cwd, "petstore.log"), server.stdout());
  const [count = "", revoke = "", ...more] = commandsOf(
    "### A key adds too many pets",
  );
  assert.deepEqual(more, []);
  const counted = await run(["bash", "-c", count], { cwd });
  assert.match(counted.stdout, /\n *12 "key":3\n$/);
  const task = /^deno task (.*)/.exec(revoke)?.[1]?.split(" ") ?? [];
  assert.equal((await runMain(task, { cwd })).code, 0);
  await until("it is refused", async () => await add(3, 1) === 401);
  assert.equal(await add(4, 1), 201);
});

for (const [name, place] of Object.entries(PLACES)) {
  testUnless(place.noDump)(
    `operating.md restores a backup in ${name}, and no id is given again`,
    async (t) => {
      const { cwd, url, type, storage } = await operate(t, place);
      for (let i = 0; i < 3; i++) await storage.create(REX);
      await type("## Backups");
      await storage.create(REX);
      await storage.close();
      place.restore(cwd);
      await type("### Restore a backup");
      const restored = await place.open(url, cwd);
      const { pets } = await restored.list({ limit: 9 });
      assert.deepEqual(pets.map(({ id }) => id), [1n, 2n, 3n]);
      assert.equal((await restored.create(REX)).id, 50001n);
      await restored.close();
    },
  );

  testUnless(place.noShell)(
    `operating.md removes a pet in ${name} for good, while a server runs`,
    async (t) => {
      const { cwd, url, type, storage } = await operate(t, place);
      const secret = newPet({ ...REX, name: "Zachariah" });
      for (let i = 1; i <= 8; i++) {
        await storage.create(i === 7 ? secret : REX, key(i));
      }
      await type("### Remove a pet");
      assert.equal(await storage.get(petId(7n)), undefined);
      const idsAfter = async (after: bigint) => {
        const { pets, last } = await storage.list({ limit: 1, after });
        return [...pets.map(({ id }) => id), last];
      };
      assert.deepEqual(await idsAfter(5n), [6n, 6n]);
      assert.deepEqual(await idsAfter(6n), [8n, undefined]);
      assert.deepEqual(await idsAfter(7n), [8n, undefined]);
      const records = "SELECT key FROM idempotency_keys WHERE pet_id = 7";
      if (name === "SQLite") {
        const { stdout } = await run(["sqlite3", "petstore.db", records], {
          cwd,
        });
        assert.equal(stdout, "");
        for (const file of ["petstore.db", "petstore.db-wal"]) {
          const bytes = readFileSync(join(cwd, file), "latin1");
          assert.ok(!bytes.includes("Zachariah"), file);
        }
      } else assert.deepEqual(await runSql(url, records), []);
      const again = await storage.create(secret, key(7));
      assert.deepEqual([again.id, again.replayed], [9n, undefined]);
      await storage.close();
    },
  );
}

/** Adds pets, eight at a time, until it is stopped; returns the ids that were acknowledged. */
function keepAdding(storage: PetDatabase) {
  const ids: bigint[] = [];
  let isStopped = false;
  const add = async () => {
    while (!isStopped) ids.push((await storage.create(REX)).id);
  };
  const adding = Promise.all(Array.from({ length: 8 }, add));
  return {
    ids,
    async stop() {
      isStopped = true;
      await adding;
    },
  };
}

for (const count of [10_000, 0]) {
  test(`operating.md restores ${count} pets, to which others were added, without sqlite3`, async (t) => {
    // Nothing is on this PATH: the commands run by their whole paths.
    const env = { PATH: newFolder(t) };
    const place = PLACES.SQLite;
    const { cwd, type, storage } = await operate(t, place, env);
    const pets = Array.from(
      { length: count },
      (_, i) =>
        newPet({
          ...REX,
          name: `Animal ${i}`,
          categoryId: 2n ** 53n + BigInt(i),
        }),
    );
    await Promise.all(pets.map((pet, i) => storage.create(pet, key(i))));
    const { key: valid } = await issuedKeys(storage.apiKeys).issue("phone");

    const during = count > 0 ? keepAdding(storage) : undefined;
    await until("others add pets", () => during?.ids.length !== 0);
    await type("## Backups");
    const before = during?.ids.length ?? 0;
    await until("they still do", () => (during?.ids.length ?? 1) > before);
    await during?.stop();
    const highest = (during?.ids ?? []).reduce((a, b) => a > b ? a : b, 0n);
    assert.ok(highest < 50_000n, "the page's margin would not be enough");
    await storage.close();
    // The disk is gone.
    for (const end of ["", "-wal", "-shm"]) {
      rmSync(join(cwd, `petstore.db${end}`), { force: true });
    }

    await type("### Restore a backup");
    const restored = await place.open("", cwd);
    const found = [];
    for (let after: bigint | undefined = 0n; after !== undefined;) {
      const page: Page = await restored.list({ limit: 100, after });
      found.push(...page.pets);
      after = page.last;
    }
    // Without gaps, from the first one on, and those that were there before the backup are as sent.
    assert.deepEqual(
      found.map(({ id }) => id),
      found.map((_, i) => BigInt(i + 1)),
    );
    assert.ok(found.length >= count);
    const expected = pets.map(({ name, categoryId, status }, i) => ({
      id: BigInt(i + 1),
      name,
      categoryId,
      status,
    }));
    assert.deepEqual(found.slice(0, count), expected);
    if (count > 0) {
      const replay = await restored.create(newPet(pets[7] ?? REX), key(7));
      assert.deepEqual([replay.id, replay.replayed], [8n, true]);
    }
    const keys = issuedKeys(restored.apiKeys, { onError() {} });
    assert.deepEqual(await keys.verify(valid), { id: 1 });
    assert.equal((await restored.create(REX)).id, 50_001n);
    await restored.close();
  });
}

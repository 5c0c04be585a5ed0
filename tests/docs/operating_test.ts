/**
 * What docs/operating.md tells operators to type, on both databases: a backup is restored, and a
 * pet is removed.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/mod.ts";
import { petId } from "../../core/pets/pet.ts";
import { findBinaries } from "../support/postgres/binaries.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
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
    noDump: missing("sqlite3"),
    noShell: missing("sqlite3"),
    commands: /^(?:sqlite3|deno) /,
    url: async () => "sqlite:petstore.db",
    open: (_: string, cwd: string) => sqliteStorage(join(cwd, "petstore.db")),
    restore(cwd: string): void {
      for (const end of ["", "-wal", "-shm"]) {
        const file = join(cwd, `petstore.db${end}`);
        if (existsSync(file)) renameSync(file, `${file}.away`);
      }
      renameSync(join(cwd, "backup.db"), join(cwd, "petstore.db"));
    },
  },
  PostgreSQL: {
    noDump,
    noShell: skip || missing("psql"),
    commands: /^(?:psql|pg_dump|pg_restore|deno) /,
    url: emptyDatabase,
    open: (url: string) => postgresStorage(url),
    restore(): void {},
  },
};

type Place = (typeof PLACES)[keyof typeof PLACES];

/** Opens a database in a new folder, for a server and for commands. */
async function operate(t: TestContext, place: Place) {
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
        ? await run(["bash", "-c", words], { cwd, env: { PATH } })
        : await runMain(task.split(" "), { cwd, env: { DATABASE_URL: url } });
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

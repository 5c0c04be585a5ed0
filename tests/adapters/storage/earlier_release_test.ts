/**
 * Databases of the release at commit 65681a1, whose tables lack two columns: they are brought up to
 * date without being asked, and that release starts on them again.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { d1Storage } from "../../../adapters/storage/d1/mod.ts";
import { parsePostgresUrl } from "../../../adapters/storage/postgres/address.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { postgresTarget } from "../../../adapters/storage/postgres/transfer.ts";
import { TABLES } from "../../../adapters/storage/sqlite_tables.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { issuedKeys } from "../../../adapters/keys/issued_keys.ts";
import { ask } from "../../contract/ask.ts";
import { PATIENT, sharedPostgres } from "../../support/postgres/shared.ts";
import { connect, runSql } from "../../support/postgres/sql.ts";
import { startProgram } from "../../support/process.ts";
import { pathOf, readText, ROOT } from "../../support/repository.ts";
import { commandLine, skipping, testUnless } from "../../support/runtime.ts";
import { runSql as runOnFile } from "../../support/sqlite.ts";
import {
  mainCommand,
  runMain,
  type RunningServer,
  startMain,
} from "../../support/standalone.ts";
import {
  newFolder,
  temporaryDirectory,
} from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import { imitation } from "./d1/imitation.ts";

const COMMIT = "65681a1";
const STORED = "tests/data/release_65681a1/petstore";

/** The keys that were issued there: for `mobile app`, and for `lost phone`, which was revoked. */
const [KEY, REVOKED] = [
  "pet_0SKKMC0GW4GgwimqoQK2qg8oUoOc2aUE0NhLzF",
  "pet_soIIuIaiaQg00iaAa6CgSuKcC6KouQgM1FyWBQ",
];
const PETS = [
  '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
  '{"id":2,"name":"Čtyřlístek 🐕","categoryId":9223372036854775807,"status":"pending"}',
  '{"id":9007199254740993,"name":"Beyond 2^53","categoryId":-9223372036854775808,"status":"sold"}',
  '{"id":9007199254740994,"name":"Tom","categoryId":9007199254740993,"status":"available"}',
];
/** Added `PETS[2]`, by a clock in 2100, so that it does not expire. */
const IDEMPOTENCY_KEY = "order-3";

const { skip, emptyDatabase } = await sharedPostgres();

/** A stored database, restored for a test. */
interface Restored {
  readonly url: string;
  readonly sql: (
    text: string,
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const FORMS = {
  SQLite: {
    skip: false,
    async restore(t: TestContext): Promise<Restored> {
      const path = join(newFolder(t), "petstore.db");
      copyFileSync(pathOf(`${STORED}.db`), path);
      return {
        url: `sqlite:${path}`,
        // Rows without a prototype are not equal to those of PostgreSQL.
        sql: async (text) => runOnFile(path, text).map((row) => ({ ...row })),
      };
    },
    columns:
      "SELECT m.name || '.' || c.name || ' ' || c.type AS column FROM sqlite_schema AS m, pragma_table_info(m.name) AS c ORDER BY m.name, cid",
    version: "SELECT user_version AS version FROM pragma_user_version",
  },
  PostgreSQL: {
    skip,
    async restore(): Promise<Restored> {
      const url = await emptyDatabase();
      await runSql(url, readText(`${STORED}.sql`));
      return { url, sql: (text) => runSql(url, text) };
    },
    columns:
      "SELECT concat(table_name, '.', column_name, ' ', data_type, ' ', is_nullable) AS column FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position",
    version: "SELECT CAST(version AS int) AS version FROM petstore_schema",
  },
} as const;

/** Opens a database as the library does. */
function openStorage(url: string) {
  return url.startsWith("sqlite:")
    ? sqliteStorage(url.slice("sqlite:".length))
    : postgresStorage(url, PATIENT);
}

const noHistory = skipping(
  spawnSync("git", ["-C", ROOT, "cat-file", "-e", `${COMMIT}^{commit}`])
        .status !== 0 &&
    `There is no commit ${COMMIT} in this clone (git fetch --unshallow), so that release is not started again`,
);
const root = temporaryDirectory();

/** Unpacks that release from the history of git, once; returns its `main.ts`. */
function earlierMain(): string {
  const folder = join(root, COMMIT);
  const main = join(folder, "adapters/standalone/main.ts");
  if (spawnSync("test", ["-e", folder]).status !== 0) {
    mkdirSync(folder);
    const archive = execFileSync(
      "git",
      ["-C", ROOT, "archive", COMMIT, "adapters", "core", "deno.json"],
      { maxBuffer: 100_000_000 },
    );
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    symlinkSync(pathOf("node_modules"), join(folder, "node_modules"));
  }
  return main;
}

async function listed(server: RunningServer): Promise<string> {
  const { status, text } = await ask(
    { ...server, key: KEY },
    "GET",
    "/v1/pets?limit=100",
  );
  assert.equal(status, 200, text);
  return text;
}

for (
  const [name, { skip, restore, columns, version }] of Object.entries(FORMS)
) {
  const onThisDatabase = { test: testUnless(skip) };

  onThisDatabase.test(`three servers at once open ${name} of ${COMMIT}, which then starts again`, async (t) => {
    const { url, sql } = await restore(t);
    const env = { DATABASE_URL: url };
    const servers = await Promise.all(
      [1, 2, 3].map(() => startMain(t, { env })),
    );
    for (const server of servers) {
      assert.equal(await listed(server), `[${PETS}]`);
      const lost = await ask({ ...server, key: REVOKED }, "GET", "/v1/pets");
      assert.equal(lost.status, 401);
      const again = await ask({ ...server, key: KEY }, "POST", "/v1/pets", {
        body: PETS[2]?.replace(/"id":\d+,/, "") ?? "",
        headers: { "idempotency-key": IDEMPOTENCY_KEY },
      });
      assert.deepEqual([again.status, again.text], [201, PETS[2]]);
      assert.equal(again.headers.get("idempotent-replayed"), "true");
    }
    const [first] = servers;
    const body = '{"name":"New","categoryId":7}';
    const added = await ask(
      { ...first, key: KEY } as RunningServer,
      "POST",
      "/v1/pets",
      { body },
    );
    assert.match(added.text, /^\{"id":9007199254740995,/);
    const issue = ["keys", "issue", "next", "--expires", "1d"];
    const issued = await runMain(issue, { env });
    assert.equal(issued.code, 0, issued.stderr);
    assert.deepEqual(await sql(version), [{ version: 1 }]);
    for (const server of servers) assert.equal(await server.end(), 0);
    if (noHistory) return;

    const earlier = await startMain(t, { env, main: earlierMain() });
    assert.equal(await listed(earlier), `[${[...PETS, added.text]}]`);
    const last = await ask({ ...earlier, key: KEY }, "POST", "/v1/pets", {
      body,
    });
    assert.match(last.text, /^\{"id":9007199254740996,/);
    const current = await startMain(t, { env }); // beside the earlier one
    assert.equal(
      await listed(current),
      `[${[...PETS, added.text, last.text]}]`,
    );
  });
  onThisDatabase.test(`tables of ${COMMIT} in ${name} become as new ones, unless one only reads`, async (t) => {
    const { url, sql } = await restore(t);
    const before = await sql(columns);
    const { code, stderr } = await runMain(["copy", url, "sqlite:to.db"], {
      cwd: newFolder(t),
    });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /it lacks the columns api_keys\.expires and api_keys\.last_used of this release, which a server adds when it starts, and the command keys; nothing was changed$/m,
    );
    assert.deepEqual(await sql(columns), before);

    const list = ["keys", "list"];
    const env = { DATABASE_URL: url };
    assert.equal((await runMain(list, { env })).code, 0);
    const after = await sql(columns);
    assert.equal(after.length, before.length + 2);
    const fresh = name === "SQLite"
      ? `sqlite:${join(newFolder(t), "new.db")}`
      : await emptyDatabase();
    await (await openStorage(fresh)).close();
    const there = name === "SQLite"
      ? runOnFile(fresh.slice("sqlite:".length), columns)
      : await sql(columns);
    assert.deepEqual(after, there.map((row) => ({ ...row })));
  });
}

test("a kill between two columns in SQLite leaves neither; the next start adds both", async (t) => {
  const { columns, restore } = FORMS.SQLite;
  const { url, sql } = await restore(t);
  const before = await sql(columns);
  const path = url.slice("sqlite:".length);
  const last = "ALTER TABLE api_keys ADD COLUMN expires";
  const program = pathOf("tests/adapters/storage/killed_program.ts");
  const killed = startProgram(t, [...commandLine(program), path, last]);
  assert.notEqual(await killed.exited, 0);
  assert.equal(killed.stderr(), "");
  assert.deepEqual(await sql(columns), before);
  await (await openStorage(url)).close();
  assert.equal((await sql(columns)).length, before.length + 2);
});

const onPostgres = testUnless(skip);

onPostgres(
  "a kill between two columns in PostgreSQL leaves neither; the next start adds both",
  async (t) => {
    const { columns, restore } = FORMS.PostgreSQL;
    const { url, sql } = await restore();
    const before = await sql(columns);
    await sql(`create function hang() returns event_trigger language plpgsql as
      'begin perform pg_sleep(50); end';
    create event trigger hang on ddl_command_end when tag in ('ALTER TABLE')
      execute function hang()`);
    const server = startProgram(t, mainCommand(["start", "--port", "0"]), {
      cwd: newFolder(t),
      env: { DATABASE_URL: url, PETSTORE_API_KEYS: "secret" },
    });
    const altering = `from pg_stat_activity where wait_event = 'PgSleep'
    and datname = current_database()`;
    const hangs = async () => (await sql(`select ${altering}`)).length === 1;
    await until("it adds the first column", hangs);
    await server.end("SIGKILL");
    await sql(`select pg_terminate_backend(pid) ${altering}`);
    await sql("drop event trigger hang");
    assert.deepEqual(await sql(columns), before);
    await (await openStorage(url)).close();
    assert.equal((await sql(columns)).length, before.length + 2);
  },
);

onPostgres(
  "columns are added once a transaction ends that uses the table, and no reader waits long",
  async (t) => {
    const { columns, restore } = FORMS.PostgreSQL;
    const { url, sql } = await restore();
    const before = await sql(columns);
    const user = await connect(t, url);
    await user.query("begin; select from api_keys");
    // A copy waits for up to 30 s for other locks.
    const opening = postgresTarget(parsePostgresUrl(url));
    let isOver = false;
    const end = () => isOver = true;
    opening.then(end, end);
    const waiting = `select from pg_locks where not granted and
    relation = 'api_keys'::regclass`;
    const waits = async () => (await sql(waiting)).length > 0;
    // Longer than one attempt.
    let longest = 0;
    for (let attempt = 0; attempt < 2; attempt++) {
      await until("a column waits for its lock", waits);
      const start = performance.now();
      await sql("select from api_keys");
      longest = Math.max(longest, performance.now() - start);
    }
    assert.equal(isOver, false);
    // An attempt takes 3 s, and 30 s if it waits as long as for other locks.
    assert.ok(longest < 15_000, `a reader waited for ${longest} ms`);
    await user.query("commit");
    await (await opening).close();
    assert.equal((await sql(columns)).length, before.length + 2);
  },
);

onPostgres(
  "a lock that is held for longer than opening may take is told, and nothing was changed",
  async (t) => {
    const { columns, restore } = FORMS.PostgreSQL;
    const { url, sql } = await restore();
    const before = await sql(columns);
    const user = await connect(t, url);
    await user.query("begin; select from api_keys");
    const opening = postgresStorage(url, { openTimeout: 1 });
    await assert.rejects(opening, /canceling statement due to lock timeout/);
    assert.deepEqual(await sql(columns), before);
  },
);

onPostgres(
  "a user who may not alter tables, and a server that only reads, get the statements",
  async () => {
    const { columns, restore } = FORMS.PostgreSQL;
    const { url, sql } = await restore();
    const before = await sql(columns);
    const role = "petstore_reader";
    await sql(`drop role if exists ${role}; create role ${role} login;
    grant usage on schema public to ${role};
    grant select on all tables in schema public to ${role}`);
    const address = new URL(url);
    address.username = role;
    const readOnly = `${url}?options=-c%20default_transaction_read_only%3Don`;
    try {
      for (
        const [where, why] of [
          [address.href, "must be owner of table api_keys"],
          [readOnly, "cannot execute [A-Z ]+ in a read-only transaction"],
        ] as const
      ) {
        await assert.rejects(postgresStorage(where), {
          name: "StorageError",
          message: RegExp(
            `^Cannot open the database: it lacks the columns api_keys\\.expires and api_keys\\.last_used of this release, and could not add them \\(.*${why}\\)\\. Run as the owner of the tables: ALTER TABLE api_keys ADD COLUMN expires bigint; ALTER TABLE api_keys ADD COLUMN last_used bigint$`,
          ),
        }, where);
      }
      assert.deepEqual(await sql(columns), before);
      await sql(`ALTER TABLE api_keys ADD COLUMN expires bigint;
      ALTER TABLE api_keys ADD COLUMN last_used bigint`);
      await (await postgresStorage(address.href)).close();
    } finally {
      await sql(`drop owned by ${role}; drop role ${role}`);
    }
  },
);

test(`d1Storage adds columns to tables of ${COMMIT}, even if two Workers do at once`, async () => {
  const binding = imitation();
  const earlier = TABLES.map((sql) =>
    sql.replace(/,\s+expires INTEGER,\s+last_used INTEGER/, "")
  );
  await binding.batch(earlier.map((sql) => binding.prepare(sql)));
  await binding.batch([
    binding.prepare(
      "INSERT INTO api_keys (name, digest, created) VALUES ('old', 'd', 5)",
    ),
  ]);
  await assert.rejects(
    binding.batch([binding.prepare("SELECT expires FROM api_keys")]),
  );
  const [first, second] = [d1Storage(binding), d1Storage(binding)];
  const [old] = await Promise.all([
    first.apiKeys.find?.("d"),
    second.apiKeys.list(),
  ]);
  assert.deepEqual(old, { id: 1, name: "old", created: new Date(5) });
  const expires = new Date(Date.now() + 60_000);
  const { record } = await issuedKeys(first.apiKeys).issue("new", { expires });
  assert.deepEqual((await second.apiKeys.list())[1], record);
});

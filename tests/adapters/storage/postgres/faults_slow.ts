import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type PetDatabase,
  postgresStorage,
  type PostgresStorageOptions,
} from "../../../../adapters/storage/postgres/mod.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { StorageError } from "../../../../core/pets/pet_storage.ts";
import { atEnd } from "../../../support/at_end.ts";
import {
  changeSetting,
  type Cluster,
  startCluster,
} from "../../../support/postgres/cluster.ts";
import { serverAccount } from "../../../support/postgres/processes.ts";
import { connect, runSql } from "../../../support/postgres/sql.ts";
import {
  forgetStandby,
  loseStandby,
  NO_CLUSTER,
  onCluster,
} from "../../../support/postgres/test_cluster.ts";
import { runWell } from "../../../support/process.ts";
import { missing } from "../../../support/runtime.ts";
import { key, newPet, REX } from "../../../support/pets.ts";
import { awaitedLater, until } from "../../../support/time.ts";

/** Long, because a busy machine takes its time; tests that wait for an end have shorter ones. */
const PATIENCE: PostgresStorageOptions = {
  connectTimeout: 20_000,
  queryTimeout: 20_000,
  openTimeout: 20_000,
};
const PASSWORD = "sesame:/@%";
const WAITS = "from pg_stat_activity where wait_event = 'SyncRep'";

onCluster({
  skip: missing("openssl"),
  password: PASSWORD,
  settings: { listen_addresses: "127.0.0.1,127.0.0.2" },
})(
  "postgresStorage encrypts, and checks the server, as its address says",
  async ({ t, cluster }) => {
    const certificate = await enableTls(cluster);
    const url = await cluster.newDatabase();
    const cases = [
      ["", false],
      ["sslmode=disable", false],
      ["sslmode=require", true],
      [`sslmode=require&sslrootcert=${certificate}`, true],
      [`sslmode=verify-ca&sslrootcert=${certificate}`, true],
      [`sslmode=verify-full&sslrootcert=${certificate}`, true],
      ["sslmode=require&channel_binding=require", true],
    ] as const;
    for (const [parameters, isEncrypted] of cases) {
      const storage = await open(t, `${url}?${parameters}`);
      await storage.create(REX);
      const rows = await runSql(
        url,
        `select ssl from pg_stat_ssl join pg_stat_activity using (pid)
        where application_name = 'petstore'`,
      );
      assert.ok(rows.length > 0, parameters);
      for (const { ssl } of rows) assert.equal(ssl, isEncrypted, parameters);
      await storage.close();
      const isAlone = async () => (await cluster.backends()).length === 0;
      await until("no connection is open", isAlone);
    }
    // This machine does not know the certificate.
    await assertRefused(`${url}?sslmode=verify-full`, /certificate|issuer/i);
    // An address of the same server that is not in the certificate.
    const alias = url.replace("127.0.0.1", "127.0.0.2");
    const trusting = `sslrootcert=${certificate}`;
    await (await open(t, `${alias}?sslmode=verify-ca&${trusting}`)).ping();
    await assertRefused(
      `${alias}?sslmode=verify-full&${trusting}`,
      /altnames|NotValidForName/,
    );
  },
);

/**
 * Makes a server accept TLS connections as well as plain ones, as `localhost` and as 127.0.0.1.
 *
 * @returns the path of its certificate, which it signed itself; it goes with the server's folder.
 */
async function enableTls(cluster: Cluster): Promise<string> {
  const certificate = join(cluster.folder, "server.crt");
  const key = join(cluster.folder, "server.key");
  const command =
    "openssl req -x509 -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes" +
    " -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1" +
    // Deno trusts no server with the certificate of an authority.
    ` -addext basicConstraints=critical,CA:FALSE -keyout ${key} -out ${certificate}`;
  await runWell(command.split(" "));
  serverAccount().give(key);
  await changeSetting(cluster, "ssl_cert_file", certificate);
  await changeSetting(cluster, "ssl_key_file", key);
  await changeSetting(cluster, "ssl", "on");
  return certificate;
}

let shared: Promise<Cluster> | undefined;
after(async () => await (await shared)?.close());

const withCluster = {
  test(
    what: string,
    check: (given: Given) => Promise<void>,
  ): void {
    const options = { skip: NO_CLUSTER, timeout: 120_000 };
    test(`postgresStorage ${what}`, options, async (t) => {
      const cluster = await (shared ??= startCluster({ password: PASSWORD }));
      await check({ t, cluster, url: await cluster.newDatabase() });
    });
  },
};

interface Given {
  readonly t: TestContext;
  readonly cluster: Cluster;
  /** A new database. */
  readonly url: string;
}

withCluster.test("says that a database in another encoding cannot hold every name", async ({ cluster }) => {
  await cluster.query(
    "create database latin template template0 encoding 'SQL_ASCII'",
  );
  await assertRefused(
    cluster.url("latin"),
    /is SQL_ASCII, .* ENCODING 'UTF8' TEMPLATE/,
  );
});

withCluster.test("lets a user who may only read and add use existing tables", async ({ t, cluster, url }) => {
  await cluster.query(`create role clerk login password '${PASSWORD}'`);
  const clerk = new URL(url);
  clerk.username = "clerk";
  await assertRefused(clerk.href, /permission denied for schema/);
  await (await postgresStorage(url, PATIENCE)).close();
  await runSql(
    url,
    `grant select on all tables in schema public to clerk;
      grant insert on pets, api_keys to clerk`,
  );
  const storage = await open(t, clerk.href);
  const { id } = await storage.create(REX);
  assert.equal((await storage.get(id))?.name, "Rex");
  // Keys want more: their records come and go, and the id is taken first.
  await assert.rejects(storage.create(REX, key(0)), /permission/);
  await runSql(
    url,
    `grant insert, update, delete on idempotency_keys to clerk;
      grant usage on sequence pets_id_seq to clerk`,
  );
  const pet = await storage.create(REX, key(0));
  const again = await storage.create(REX, key(0));
  assert.deepEqual(again, { ...pet, replayed: true });
  await runSql(
    url,
    "revoke select on pets from clerk; grant select (id) on pets to clerk",
  );
  await assert.rejects(storage.create(REX, key(0)), /denied for table pets/);
});

withCluster.test("reads and creates while its table is reindexed, and ends in no deadlock", async ({ t, cluster, url }) => {
  const name = new URL(url).pathname.slice(1);
  await cluster.query(`alter database ${name} set deadlock_timeout = '20ms'`);
  const storage = await open(t, url);
  let isOver = false;
  const users = Array.from({ length: 50 }, async (_, user) => {
    for (let i = user; !isOver; i++) {
      const limit = 1 + i % 20;
      await storage.list(i % 3 === 0 ? { limit, status: "sold" } : { limit });
      if (user === 0) await storage.create(REX);
    }
  });
  const using = awaitedLater(Promise.all(users));
  for (let i = 0; i < 30; i++) await runSql(url, "reindex table pets");
  isOver = true;
  await using;
  const [ends] = await cluster.query(
    `select deadlocks from pg_stat_database where datname = '${name}'`,
  );
  assert.equal(Number(ends?.deadlocks), 0);
});

for (const isolation of ["repeatable read", "serializable"]) {
  withCluster.test(`takes turns with ${isolation} as the default`, async ({ t, cluster, url }) => {
    const name = new URL(url).pathname.slice(1);
    await cluster.query(
      `alter database ${name} set default_transaction_isolation = '${isolation}'`,
    );
    const storages = await Promise.all(
      Array.from({ length: 8 }, () => open(t, url)),
    );
    const record = { name: "first", created: new Date(0) };
    const first = await Promise.all(
      storages.map(({ apiKeys }, index) =>
        apiKeys.insertFirst({ ...record, digest: `${index}` })
      ),
    );
    assert.equal(first.filter((record) => record !== undefined).length, 1);
    const creates = storages.flatMap((storage) =>
      [1, 2, 3].map(() => storage.create(REX))
    );
    assert.equal((await Promise.all(creates)).length, 24);
    await assertRefused(
      `${url}?pgbouncer=true`,
      /cannot be set through a pool/,
    );
  });
}

onCluster()(
  "postgresStorage takes no connection that a server which hung was to open",
  async ({ t, cluster: first }) => {
    const second = await startCluster();
    atEnd(t, () => second.close());
    for (const [name, cluster] of Object.entries({ first, second })) {
      await cluster.query("create database pets");
      const storage = await open(t, cluster.url("pets"));
      await storage.create(newPet({ ...REX, name }));
    }
    const url = first.url("pets").replace(
      `:${first.port}`,
      `:${first.port},127.0.0.1:${second.port}`,
    );
    const times = { connectTimeout: 3000, queryTimeout: 3000 };
    const storage = await open(t, url, times);
    const get = async () => (await storage.get(petId(1n)))?.name;
    assert.equal(await get(), "first");
    await first.pause();
    await assertFault(get(), "unavailable", /timeout/);
    const names = [get()];
    await delay(2000); // before the first is given up
    names.push(get());
    assert.equal(await names[0], "second");
    first.resume();
    assert.equal(await names[1], "second");
    const later = await Promise.all(
      Array.from({ length: 10 }, () => storage.list({ limit: 1 })),
    );
    for (const { pets } of later) assert.equal(pets[0]?.name, "second");
  },
);

onCluster()(
  "postgresStorage keeps to its connection_limit in the first 5 s after an outage",
  async ({ t, cluster }) => {
    const limit = 4;
    const url = await cluster.newDatabase();
    const storage = await postgresStorage(`${url}?connection_limit=${limit}`);
    atEnd(t, () => storage.close());
    let isOver = false;
    let answered = 0;

    async function call(read: () => Promise<unknown>): Promise<void> {
      while (!isOver) {
        try {
          await read();
          answered++;
        } catch (error) {
          assert.ok(error instanceof StorageError, String(error));
        }
        await delay(5);
      }
    }

    atEnd(t, () => isOver = true);
    const calling = awaitedLater(Promise.all(
      Array.from({ length: 100 }, (_, i) => [
        call(() => storage.get(petId(BigInt(i + 1)))),
        call(() => storage.list({ limit: i % 20 + 1 })),
        call(() => storage.create(REX)),
        call(() => storage.apiKeys.isActive(`${i}`)),
      ]).flat(),
    ));
    await delay(500);
    await cluster.kill();
    await delay(1000);
    await cluster.start();

    answered = 0;
    const end = performance.now() + 5000;
    while (performance.now() < end) {
      const connections = await cluster.backends();
      assert.ok(connections.length <= limit, `${connections.length}`);
      await delay(10);
    }
    assert.ok(answered > 0);
    isOver = true;
    await calling;
  },
);

withCluster.test("hears of a commit without its standby, however little is told", async ({ t, cluster, url }) => {
  await (await open(t, url)).ping();
  const quiet = `${url}?options=-c%20client_min_messages%3Derror`;
  await loseStandby(cluster);
  atEnd(t, () => forgetStandby(cluster));
  const storage = await open(t, quiet);
  const creating = awaitedLater(storage.create(REX));
  await untilDone(cluster, `pg_cancel_backend(pid) ${WAITS}`);
  await assertFault(creating, "outcome_unknown", /synchronous replication/);
});

withCluster.test("does not end a commit that waits for its standby, however long", async ({ t, cluster, url }) => {
  const storage = await open(t, url, { queryTimeout: 500 });
  await loseStandby(cluster);
  atEnd(t, () => forgetStandby(cluster));
  await assertFault(storage.create(REX), "outcome_unknown", /timeout/);
  // PostgreSQL's own limit is half a second longer than ours.
  await delay(2000);
  assert.equal((await cluster.query(`select pid ${WAITS}`)).length, 1);
  assert.deepEqual(await runSql(url, "select from pets"), []);
});

withCluster.test("acknowledges a replay only when the synchronous standby has it", async ({ t, cluster, url }) => {
  const times = { queryTimeout: 4000 };
  const storages = [
    await open(t, url, times),
    await open(t, url, times),
  ] as const;
  const [storage] = storages;
  const outcomeOf = (create: Promise<unknown>): Promise<string> =>
    create.then(() => "acknowledged", ({ kind }) => kind);

  const known = await storage.create(REX, key(0));
  await loseStandby(cluster);
  atEnd(t, () => forgetStandby(cluster));
  for (let round = 0; round < 2; round++) {
    const outcome = await outcomeOf(storage.create(REX, key(1)));
    assert.equal(outcome, "outcome_unknown");
    // Ends the wait of the commit: it is on the primary only.
    const cancelled = () =>
      cluster.query(`select pg_cancel_backend(pid) ${WAITS}`);
    await until("nobody waits", async () => (await cancelled()).length === 0);
    assert.equal((await storage.list({ limit: 9 })).pets.length, 2);
  }

  const outcomes: string[] = [];
  for (let i = 0; i < 6; i++) {
    const creates = storages.map((storage) =>
      outcomeOf(storage.create(REX, key(i % 2)))
    );
    outcomes.push(...await Promise.all(creates));
    for (const storage of storages) {
      assert.deepEqual(await storage.get(known.id), known);
    }
  }
  // The first keeps the lock and waits, even after its client has left.
  assert.deepEqual(outcomes.sort(), [
    "outcome_unknown",
    ...Array(11).fill("unavailable"),
  ]);
  assert.equal((await cluster.query(`select pid ${WAITS}`)).length, 1);

  await forgetStandby(cluster);
  // A lock that is not free yet is no failure here.
  while (await outcomeOf(storage.create(REX)) !== "acknowledged");
  const again = await storage.create(REX, key(0));
  assert.deepEqual(again, { ...known, replayed: true });
  assert.equal((await storage.create(REX, key(1))).replayed, true);
  assert.equal((await storage.create(REX, key(2))).replayed, undefined);
});

withCluster.test("answers in time if its connections, or a lock, are taken", async ({ t, cluster, url }) => {
  const parameters =
    `connection_limit=1&host=127.0.0.1,127.0.0.1&port=${cluster.port}`;
  const times = { connectTimeout: 1000 };
  const storage = await open(t, `${url}?${parameters}`, times);
  const locker = await connect(t, url);
  await locker.query("begin; lock table pets");
  const creating = awaitedLater(storage.create(REX));
  await untilDone(
    cluster,
    "from pg_stat_activity where wait_event_type = 'Lock'",
  );
  const since = performance.now();
  // No other server is tried, because it would not help.
  await assertFault(
    storage.get(petId(1n)),
    "unavailable",
    /\d: no connection was free for 1000 ms \(connection_limit is 1\)$/,
  );
  const took = performance.now() - since;
  assert.ok(took > 900 && took < 9000, `${took} ms`);
  await assertFault(creating, "unavailable", /lock/);
  await locker.end();
  assert.deepEqual((await storage.list({ limit: 1 })).pets, []);
});

/** Opens a storage, which is closed after the test. */
async function open(
  t: TestContext,
  url: string,
  times: PostgresStorageOptions = {},
): Promise<PetDatabase> {
  const storage = await postgresStorage(url, { ...PATIENCE, ...times });
  atEnd(t, () => storage.close());
  return storage;
}

/** Selects until there is a row. */
async function untilDone(cluster: Cluster, what: string): Promise<void> {
  const isDone = async () => (await cluster.query(`select ${what}`)).length > 0;
  await until(what, isDone);
}

async function assertRefused(url: string, reason: RegExp): Promise<void> {
  const opening = postgresStorage(url, { ...PATIENCE, openTimeout: 0 });
  await assertFault(opening, "unavailable", reason);
}

async function assertFault(
  promise: Promise<unknown>,
  kind: StorageError["kind"],
  reason: RegExp,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof StorageError, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, reason);
    assert.ok(!error.message.includes("sesame"), error.message);
    return true;
  });
}

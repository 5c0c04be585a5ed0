import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type PetDatabase,
  postgresStorage,
  type PostgresStorageOptions,
} from "../../../../adapters/storage/postgres/mod.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { StorageError } from "../../../../core/pets/pet_storage.ts";
import {
  type Cluster,
  enableTls,
  missingTls,
  startCluster,
} from "../../../support/postgres/cluster.ts";
import { runSql } from "../../../support/postgres/sql.ts";
import {
  forgetStandby,
  loseStandby,
  NO_CLUSTER,
  ON_CLUSTER,
  withCluster,
} from "../../../support/postgres/test_cluster.ts";
import { skipping } from "../../../support/runtime.ts";
import { key, newPet, REX } from "../../../support/pets.ts";
import { until } from "../../../support/time.ts";

/** Short, so that the tests do not wait long. */
const TIMES: PostgresStorageOptions = {
  connectTimeout: 1000,
  queryTimeout: 2000,
  openTimeout: 0,
};
const PASSWORD = "sesame:/@%";

test(
  "postgresStorage encrypts, and checks the server, as its address says",
  { ...ON_CLUSTER, skip: NO_CLUSTER || skipping(await missingTls()) },
  withCluster(async (cluster) => {
    const authority = await enableTls(cluster);
    const url = await cluster.newDatabase();
    const cases = [
      ["", false],
      ["sslmode=disable", false],
      ["sslmode=require", true],
      [`sslmode=require&sslrootcert=${authority}`, true],
      [`sslmode=verify-ca&sslrootcert=${authority}`, true],
      [`sslmode=verify-full&sslrootcert=${authority}`, true],
      ["sslmode=require&channel_binding=require", true],
    ] as const;
    for (const [parameters, isEncrypted] of cases) {
      await using(`${url}?${parameters}`, async (storage) => {
        await storage.create(REX);
        const rows = await runSql(
          url,
          `select ssl from pg_stat_ssl join pg_stat_activity using (pid)
          where application_name = 'petstore'`,
        );
        assert.ok(rows.length > 0);
        for (const { ssl } of rows) assert.equal(ssl, isEncrypted, parameters);
      });
      const isAlone = async () => (await cluster.backends()).length === 0;
      await until("no connection is open", isAlone);
    }
    // This machine does not know its authority.
    await assertRefused(`${url}?sslmode=verify-full`, /certificate|issuer/i);
    // An address of the same server that is not in the certificate.
    const alias = url.replace("127.0.0.1", "127.0.0.2");
    const trusting = `sslrootcert=${authority}`;
    const byAuthority = `${alias}?sslmode=verify-ca&${trusting}`;
    await using(byAuthority, (storage) => storage.ping());
    await assertRefused(
      `${alias}?sslmode=verify-full&${trusting}`,
      /altnames|NotValidForName/,
    );
  }, {
    password: PASSWORD,
    settings: { listen_addresses: "127.0.0.1,127.0.0.2" },
  }),
);

let shared: Promise<Cluster> | undefined;
after(async () => await (await shared)?.close());

function it(what: string, check: (cluster: Cluster) => Promise<void>): void {
  const options = { skip: NO_CLUSTER, timeout: 60_000 };
  test(`postgresStorage ${what}`, options, async () => {
    await check(await (shared ??= startCluster({ password: PASSWORD })));
  });
}

it("says that a database in another encoding cannot hold every name", async (cluster) => {
  await cluster.query(
    "create database latin template template0 encoding 'SQL_ASCII'",
  );
  await assertRefused(
    cluster.url("latin"),
    /is SQL_ASCII, .* ENCODING 'UTF8' TEMPLATE/,
  );
});

it("lets a user who may only read and add use existing tables", async (cluster) => {
  const url = await cluster.newDatabase();
  await cluster.query(`create role clerk login password '${PASSWORD}'`);
  const clerk = new URL(url);
  clerk.username = "clerk";
  await assertRefused(clerk.href, /permission denied for schema/);
  await (await postgresStorage(url, TIMES)).close();
  await runSql(
    url,
    `grant select on all tables in schema public to clerk;
      grant insert on pets, api_keys to clerk`,
  );
  await using(clerk.href, async (storage) => {
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
});

it("reads and creates while its table is reindexed, and ends in no deadlock", async (cluster) => {
  const url = await cluster.newDatabase();
  const name = new URL(url).pathname.slice(1);
  await cluster.query(`alter database ${name} set deadlock_timeout = '20ms'`);
  await using(url, async (storage) => {
    let isOver = false;
    const users = Array.from({ length: 50 }, async (_, user) => {
      for (let i = user; !isOver; i++) {
        const limit = 1 + i % 20;
        await storage.list(i % 3 === 0 ? { limit, status: "sold" } : { limit });
        if (user === 0) await storage.create(REX);
      }
    });
    for (let i = 0; i < 30; i++) await runSql(url, "reindex table pets");
    isOver = true;
    await Promise.all(users);
    const [ends] = await cluster.query(
      `select deadlocks from pg_stat_database where datname = '${name}'`,
    );
    assert.equal(Number(ends?.deadlocks), 0);
  });
});

it("takes turns whatever the isolation of transactions is set to", async (cluster) => {
  for (const isolation of ["repeatable read", "serializable"]) {
    const url = await cluster.newDatabase();
    await cluster.query(
      `alter database ${
        new URL(url).pathname.slice(1)
      } set default_transaction_isolation = '${isolation}'`,
    );
    const storages = await Promise.all(
      Array.from({ length: 8 }, () => postgresStorage(url)),
    );
    const first = await Promise.all(
      storages.map(({ apiKeys }, index) =>
        apiKeys.insertFirst({
          name: "first",
          digest: `${index}`,
          created: new Date(0),
        })
      ),
    );
    assert.equal(first.filter((record) => record !== undefined).length, 1);
    const creates = storages.flatMap((storage) =>
      [1, 2, 3].map(() => storage.create(REX))
    );
    assert.equal((await Promise.all(creates)).length, 24);
    for (const storage of storages) await storage.close();
    await assertRefused(
      `${url}?pgbouncer=true`,
      /cannot be set through a pool/,
    );
  }
});

test(
  "postgresStorage takes no connection that a server which hung was to open",
  ON_CLUSTER,
  withCluster(async (first) => {
    const second = await startCluster();
    try {
      for (const [name, cluster] of Object.entries({ first, second })) {
        await cluster.query("create database pets");
        await using(
          cluster.url("pets"),
          (storage) => storage.create(newPet({ ...REX, name })),
        );
      }
      const url = first.url("pets").replace(
        `:${first.port}`,
        `:${first.port},127.0.0.1:${second.port}`,
      );
      await using(url, async (storage) => {
        assert.equal((await storage.get(petId(1n)))?.name, "first");
        await first.pause();
        await assertFault(storage.get(petId(1n)), "unavailable", /timeout/);
        const pets = [storage.get(petId(1n))];
        await delay(700);
        pets.push(storage.get(petId(1n)));
        assert.equal((await pets[0])?.name, "second");
        first.resume();
        assert.equal((await pets[1])?.name, "second");
        const later = await Promise.all(
          Array.from({ length: 10 }, () => storage.list({ limit: 1 })),
        );
        for (const { pets } of later) assert.equal(pets[0]?.name, "second");
      });
    } finally {
      await second.close();
    }
  }),
);

test(
  "postgresStorage keeps to its connection_limit in the first 5 s after an outage",
  ON_CLUSTER,
  withCluster(async (cluster) => {
    const limit = 4;
    const url = await cluster.newDatabase();
    const storage = await postgresStorage(`${url}?connection_limit=${limit}`);
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

    try {
      const callers = Array.from({ length: 100 }, (_, i) => [
        call(() => storage.get(petId(BigInt(i + 1)))),
        call(() => storage.list({ limit: i % 20 + 1 })),
        call(() => storage.create(REX)),
        call(() => storage.apiKeys.isActive(`${i}`)),
      ]).flat();
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
      await Promise.all(callers);
    } finally {
      isOver = true;
      await storage.close();
    }
  }),
);

it("hears of a commit without its standby, however little is told", async (cluster) => {
  const url = await cluster.newDatabase();
  await (await postgresStorage(url, TIMES)).close();
  const quiet = `${url}?options=-c%20client_min_messages%3Derror`;
  try {
    await loseStandby(cluster);
    await using(
      quiet,
      async (storage) => {
        await storage.ping();
        const creating = assertFault(
          storage.create(REX),
          "outcome_unknown",
          /synchronous replication/,
        );
        await untilDone(
          cluster,
          "pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
        );
        await creating;
      },
      { queryTimeout: 20_000 },
    );
  } finally {
    await forgetStandby(cluster);
  }
});

it("does not end a commit that waits for its standby, however long", async (cluster) => {
  const url = await cluster.newDatabase();
  const waiting = "from pg_stat_activity where wait_event = 'SyncRep'";
  await using(url, async (storage) => {
    await storage.ping();
    await loseStandby(cluster);
    try {
      await assertFault(storage.create(REX), "outcome_unknown", /timeout/);
      // PostgreSQL's own limit is half a second longer than ours.
      await delay(2000);
      assert.equal((await cluster.query(`select pid ${waiting}`)).length, 1);
      assert.deepEqual((await storage.list({ limit: 1 })).pets, []);
    } finally {
      await forgetStandby(cluster);
    }
  }, { queryTimeout: 500 });
});

it("tells a create that was cancelled from one whose connection ended", async (cluster) => {
  await locked(cluster, async (storage, unlock) => {
    const cases = [
      ["pg_cancel_backend", "unavailable"],
      ["pg_terminate_backend", "outcome_unknown"],
    ] as const;
    for (const [end, kind] of cases) {
      const creating = assertFault(storage.create(REX), kind, /./);
      const waits =
        "wait_event_type = 'Lock' and query like '%INSERT INTO pets%'";
      await untilDone(
        cluster,
        `${end}(pid) from pg_stat_activity where ${waits}`,
      );
      await creating;
    }
    await unlock();
    assert.deepEqual((await storage.list({ limit: 1 })).pets, []);
    await storage.create(REX);
  });
});

it("answers in time if its connections, or a lock, are taken", async (cluster) => {
  await locked(
    cluster,
    async (storage, unlock) => {
      const creating = assertFault(storage.create(REX), "unavailable", /lock/);
      await untilActive(cluster, "INSERT INTO pets");
      const since = performance.now();
      // No other server is tried, because it would not help.
      await assertFault(
        storage.get(petId(1n)),
        "unavailable",
        /\d: timeout exceeded when trying to connect$/,
      );
      const took = performance.now() - since;
      assert.ok(took > 900 && took < 9000, `${took} ms`);
      await creating;
      await unlock();
      assert.deepEqual((await storage.list({ limit: 1 })).pets, []);
    },
    `connection_limit=1&host=127.0.0.1,127.0.0.1&port=${cluster.port}`,
  );
});

/** Runs `work` with a storage. */
async function using(
  url: string,
  work: (storage: PetDatabase) => Promise<unknown>,
  times: PostgresStorageOptions = {},
): Promise<void> {
  const options = { ...TIMES, openTimeout: 20_000, ...times }; // a busy machine takes its time
  const storage = await postgresStorage(url, options);
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

/** Runs `work` while another connection holds the lock that creates take. */
async function locked(
  cluster: Cluster,
  work: (storage: PetDatabase, unlock: () => Promise<void>) => Promise<void>,
  parameters = "",
): Promise<void> {
  const url = await cluster.newDatabase();
  await using(`${url}?${parameters}`, async (storage) => {
    const holding = runSql(url, "lock table pets; select pg_sleep(30)");
    const held = assert.rejects(holding, /terminat(?:ing|ed)/);
    await untilActive(cluster, "pg_sleep(30)");
    await work(storage, async () => {
      await cluster.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'lock table%'",
      );
      await held;
    });
  }, { queryTimeout: 20_000 });
}

/** Waits until a connection runs a statement that has this text in it. */
async function untilActive(cluster: Cluster, statement: string): Promise<void> {
  const isActive = async () => (await cluster.backends(statement)).length > 0;
  await until(`${statement} runs`, isActive);
}

/** Selects until there is a row. */
async function untilDone(cluster: Cluster, what: string): Promise<void> {
  const isDone = async () => (await cluster.query(`select ${what}`)).length > 0;
  await until(what, isDone);
}

async function assertRefused(url: string, reason: RegExp): Promise<void> {
  await assertFault(postgresStorage(url, TIMES), "unavailable", reason);
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

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { parsePostgresUrl } from "../../../../adapters/storage/postgres/address.ts";
import type { Connection } from "../../../../adapters/storage/postgres/client.ts";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import { connectionPool } from "../../../../adapters/storage/postgres/pool.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { openLine } from "../../../support/line.ts";
import { atEnd } from "../../../support/at_end.ts";
import { changeSetting } from "../../../support/postgres/cluster.ts";
import {
  type Database,
  PATIENT,
  sharedPostgres,
} from "../../../support/postgres/shared.ts";
import { connect } from "../../../support/postgres/sql.ts";
import {
  onCluster,
  startCopy,
} from "../../../support/postgres/test_cluster.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { awaitedLater, turns, until } from "../../../support/time.ts";

const { onDatabase } = await sharedPostgres();

/** A port where nothing listens. */
const NOWHERE = 1;
const TOM = newPet({ ...REX, name: "Tom" });

/** Makes a pool with an address. It is closed after the test, whatever is still lent. */
function poolAt(t: TestContext, url: string) {
  const times = { ...PATIENT, lockTimeout: 60_000 };
  const pool = connectionPool(parsePostgresUrl(url), times);
  const taken: Connection[] = [];
  atEnd(t, () => {
    void pool.close(); // which waits for those that a failed test has not given back
    for (const connection of taken) connection.cut();
  });
  return {
    ...pool,
    async take(action: string): Promise<Connection> {
      const connection = await pool.take(action);
      taken.push(connection);
      return connection;
    },
  };
}

/** Opens three lines to the database, and makes an address of them. */
async function threeLines({ t, url: direct }: Database) {
  const url = new URL(direct);
  const to = [Number(url.port || 5432), url.hostname] as const;
  const [a, b, c] = [
    await openLine(t, ...to),
    await openLine(t, ...to),
    await openLine(t, ...to),
  ];
  const hosts = [a, b, c].map(({ port }) => `127.0.0.1:${port}`);
  const lead = (line: typeof a, isUp: boolean) =>
    line.leadTo(isUp ? to[0] : NOWHERE);
  return { a, b, c, lead, url: direct.replace(url.host, hosts.join()) };
}

onDatabase.test("the connection that was used last is lent again, unless the work on it failed", async ({ t, url }) => {
  const pool = poolAt(t, `${url}?connection_limit=2`);
  const first = await pool.take("read");
  const second = await pool.take("read");
  pool.giveBack(first);
  pool.giveBack(second);
  assert.equal(await pool.take("read"), second);
  assert.equal(await pool.take("read"), first);
  assert.equal(pool.counts().open, 2);
  pool.giveBack(first, true);
  const third = await pool.take("read");
  assert.equal(pool.counts().open, 2);
  pool.giveBack(third);
  pool.giveBack(second);
});

onDatabase.test("calls wait in turn for one of connection_limit connections, for connectTimeout", async ({ t, url }) => {
  const pool = poolAt(t, `${url}?connection_limit=1`);
  const only = await pool.take("read");
  const waiting = [pool.take("list"), pool.take("read")] as const;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late = awaitedLater(pool.take("get pet"));
  t.mock.timers.tick(59_999);
  await turns();
  assert.equal(pool.counts().waiting, 3);
  t.mock.timers.tick(1);
  await assert.rejects(late, {
    kind: "unavailable",
    message:
      /^Cannot get pet at .*: no connection was free for 60000 ms \(connection_limit is 1\)$/,
  });
  t.mock.timers.reset();
  pool.giveBack(only);
  assert.equal(await waiting[0], only);
  pool.giveBack(only, true); // the next gets a new one, once this has ended
  const next = await waiting[1];
  assert.notEqual(next, only);
  pool.giveBack(next);
  assert.deepEqual([pool.counts().open, pool.counts().waiting], [1, 0]);
});

onDatabase.test("close waits for lent connections, and refuses calls that wait for one", async ({ t, url }) => {
  const pool = poolAt(t, `${url}?connection_limit=1`);
  const lent = await pool.take("read");
  const waiting = awaitedLater(pool.take("read"));
  let isClosed = false;
  const closing = pool.close().then(() => isClosed = true);
  await assert.rejects(waiting, /: the storage is closed$/);
  await assert.rejects(pool.take("read"), /the storage is closed$/);
  await turns();
  assert.equal(isClosed, false);
  pool.giveBack(lent);
  await closing;
  await until("it has ended", () => pool.counts().open === 0);
});

onDatabase.test("a connection that is not used for 30 s is ended", async ({ t, url }) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  let ahead = 0;
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + ahead);
  const pool = poolAt(t, url);
  const [one, other] = [await pool.take("read"), await pool.take("read")];
  pool.giveBack(one);
  pool.giveBack(other);
  ahead = 20_000;
  pool.giveBack(await pool.take("read"));
  ahead = 30_001;
  t.mock.timers.tick(30_000);
  await turnsUntil(() => pool.counts().open === 1);
  assert.equal(await pool.take("read"), other);
  pool.giveBack(other, true);
  await turnsUntil(() => pool.counts().open === 0);
  t.mock.timers.reset();
});

/** Waits for the server, for two minutes at most, although timers are mocked. */
async function turnsUntil(isSo: () => boolean): Promise<void> {
  const latest = Date.now() + 120_000;
  while (!isSo() && Date.now() < latest) await turns();
  assert.ok(isSo());
}

onDatabase.test("connections opened before one is lost are not lent again", async ({ t, url }) => {
  const pool = poolAt(t, url);
  const [lost, older] = [await pool.take("read"), await pool.take("read")];
  pool.giveBack(older);
  pool.lose(lost);
  pool.giveBack(lost, true);
  const newer = await pool.take("read");
  assert.notEqual(newer, older);
  pool.giveBack(newer);
  assert.equal(await pool.take("read"), newer);
  pool.giveBack(newer);
  await until("the older ones end", () => pool.counts().open === 1);
  assert.equal(pool.counts().lost, 1);
});

onDatabase.test("connections that are ending count towards connection_limit", async (database) => {
  const { t, url } = database;
  const { port, hostname, host } = new URL(url);
  const line = await openLine(t, Number(port || 5432), hostname);
  const address = url.replace(host, `127.0.0.1:${line.port}`);
  const pool = poolAt(t, `${address}?connection_limit=2`);
  const [lost, older] = [await pool.take("read"), await pool.take("read")];
  line.cutOff(); // the server does not close them
  line.heal();
  pool.giveBack(older);
  pool.lose(lost);
  pool.giveBack(lost, true);
  const next = await pool.take("read");
  assert.ok(pool.counts().open <= 2, `${pool.counts().open} are open`);
  pool.giveBack(next);
});

onDatabase.test("with several hosts a connection is lent for a minute", async ({ t, url }) => {
  let ahead = 0;
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + ahead);
  const { host } = new URL(url);
  const two = poolAt(t, url.replace(host, `${host},${host}`));
  const one = poolAt(t, url);
  const isKept = async (pool: typeof one, first: Connection) => {
    const next = await pool.take("read");
    pool.giveBack(next);
    return next === first;
  };
  const [ofTwo, ofOne] = [await two.take("read"), await one.take("read")];
  two.giveBack(ofTwo);
  one.giveBack(ofOne);
  ahead = 59_000;
  assert.ok(await isKept(two, ofTwo));
  ahead = 60_000;
  assert.ok(!await isKept(two, ofTwo));
  assert.ok(await isKept(one, ofOne));
});

onDatabase.test("a new connection goes to the host that served last, then the others in order", async (database) => {
  const { a, b, c, lead, url } = await threeLines(database);
  const pool = poolAt(database.t, url);
  const portOfNew = async () => {
    const connection = await pool.take("read");
    pool.giveBack(connection, true);
    return connection.port;
  };
  assert.equal(await portOfNew(), a.port);
  lead(a, false);
  assert.equal(await portOfNew(), b.port);
  lead(a, true);
  assert.equal(await portOfNew(), b.port); // although the first is back
  lead(b, false);
  assert.equal(await portOfNew(), a.port); // and not the third
  lead(a, false);
  assert.equal(await portOfNew(), c.port);
  lead(c, false);
  await assert.rejects(pool.take("read"), {
    kind: "unavailable",
    message: /: no host accepts writes: [^;]+; [^;]+; [^;]+$/,
  });
});

onDatabase.test("connections are not lent again once a different host is used", async (database) => {
  const { a, b, url } = await threeLines(database);
  const pool = poolAt(database.t, url);
  const old = await pool.take("read");
  a.refuse();
  const next = await pool.take("read");
  assert.equal(next.port, b.port);
  pool.giveBack(next);
  pool.giveBack(old);
  assert.equal(await pool.take("read"), next);
});

onDatabase.test("connections to a new host are lent again when one to the old host is lost", async (database) => {
  const { a, url } = await threeLines(database);
  const pool = poolAt(database.t, url);
  const old = await pool.take("read");
  a.refuse();
  const next = await pool.take("read");
  pool.giveBack(next);
  pool.lose(old);
  pool.giveBack(old, true);
  assert.equal(await pool.take("read"), next);
  pool.giveBack(next);
});

onDatabase.test("a call that was slow to connect begins anew if others have moved meanwhile", async (database) => {
  const { a, b, c, lead, url } = await threeLines(database);
  const pool = poolAt(database.t, url);
  lead(a, false);
  const { first, release } = b.hold();
  const slow = awaitedLater(pool.take("read"));
  await first;
  b.refuse();
  const atThird = await pool.take("read");
  assert.equal(atThird.port, c.port);
  lead(a, true);
  lead(c, false);
  const atFirst = await pool.take("read");
  assert.equal(atFirst.port, a.port);
  release();
  const connection = await slow;
  assert.equal(connection.port, a.port);
  for (const each of [atThird, atFirst, connection]) pool.giveBack(each);
});

onDatabase.test("a call that was slow to connect does not lead back to a host that was left", async (database) => {
  const { a, b, url } = await threeLines(database);
  const pool = poolAt(database.t, url);
  const { first, release } = a.hold();
  const slow = pool.take("read");
  await first;
  a.refuse();
  const leaving = await pool.take("read");
  release();
  for (const connection of [leaving, await slow]) {
    assert.equal(connection.port, b.port);
    pool.giveBack(connection);
  }
});

onDatabase.test("no other host is tried if a server refuses a log-in", async (database) => {
  const { t, url, open, sql } = database;
  const user = `clerk_${Date.now()}`;
  await (await open()).close();
  await sql(`create role ${user} login connection limit 1;
    grant usage on schema public to ${user}; grant all on all tables in schema public to ${user}`);
  const lines = await threeLines(database);
  const { host, pathname } = new URL(url);
  const address = lines.url.replace(/:\/\/[^@]*@/, `://${user}@`);
  const pool = poolAt(t, `${address}?target_session_attrs=any`);
  const taken = await connect(t, `postgres://${user}@${host}${pathname}`);
  await assert.rejects(pool.take("read"), {
    message: /127\.0\.0\.1:\d+: too many connections for role "\w+"$/,
  });
  await taken.end();
  let connection: Connection | undefined;
  await until("its place is free", async () => {
    connection = await pool.take("read").catch(() => undefined);
    return connection !== undefined;
  });
  assert.equal(connection?.port, lines.a.port);
  if (connection) pool.giveBack(connection);
  await pool.close();
  await sql(`drop owned by ${user}; drop role ${user}`);
});

onCluster()(
  "postgresStorage uses a promoted standby once the old primary is stopped",
  async ({ t, cluster: old }) => {
    await (await postgresStorage(old.url("postgres"))).close();
    const standby = await startCopy(old);
    atEnd(t, () => standby.close());
    const hosts = [standby, old].map(({ port }) => `127.0.0.1:${port}`);
    const warnings: string[] = [];
    const storage = await postgresStorage(
      `postgres://postgres@${hosts}/postgres`,
      { onWarning: (message) => warnings.push(message) },
    );
    atEnd(t, () => storage.close());
    const { id } = await storage.create(REX);
    assert.equal((await old.query("select from pets")).length, 1);

    await old.stop();
    await assert.rejects(storage.create(TOM), {
      kind: "unavailable",
      message:
        /no host accepts writes: connect ECONNREFUSED .*; the server is read-only$/,
    });
    await standby.promote();
    await until(
      "the standby is used",
      () => storage.create(TOM).then(() => true, () => false),
    );
    assert.equal(await storage.get(id + 1n as typeof id), undefined);

    // The old primary comes back, and is not used. A warning says so once a connection is opened.
    const splitBrain = `two hosts accept writes: fence the old one (${
      hosts.join(", ")
    })`;
    await old.start();
    await storage.create(TOM);
    assert.equal((await standby.query("select from pets")).length, 2);
    assert.deepEqual(warnings.filter((each) => each === splitBrain), []);
    // It looks as it connects, but not more than once a second.
    await until("it warns", async () => {
      await standby.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'petstore'`,
      );
      await storage.create(TOM).catch(() => {});
      return warnings.includes(splitBrain);
    });
    assert.equal((await old.query("select from pets")).length, 1);
  },
);

onCluster()(
  "postgresStorage leaves a server that became read-only by a setting",
  async ({ t, cluster: first }) => {
    await (await postgresStorage(first.url("postgres"))).close();
    await first.query(
      "insert into pets (name, category_id, status) values ('Rex', 1, 0)",
    );
    const second = await startCopy(first);
    atEnd(t, () => second.close());
    await second.promote();
    await second.query("update pets set name = 'Max'");
    const hosts = [first, second].map(({ port }) => `127.0.0.1:${port}`);
    const url = `postgres://postgres@${hosts}/postgres`;
    let ahead = 0;
    const { now } = performance;
    t.mock.method(performance, "now", () => now.call(performance) + ahead);
    const open = async () => {
      const storage = await postgresStorage(url, { onWarning: () => {} });
      atEnd(t, () => storage.close());
      return storage;
    };
    const [writer, reader] = [await open(), await open()];
    await Promise.all([writer.ping(), writer.ping(), writer.ping()]);
    const nameAt = async (storage: typeof reader) =>
      (await storage.get(petId(1n)))?.name;
    assert.equal(await nameAt(writer), "Rex");
    assert.equal(await nameAt(reader), "Rex");
    await changeSetting(first, "default_transaction_read_only", "on");

    const message = /read-only transaction$/;
    await assert.rejects(writer.create(TOM), { kind: "unavailable", message });
    const { id } = await writer.create(TOM);
    assert.equal(await nameAt(writer), "Max");
    assert.equal(id, 2n);
    // A server that only reads leaves it within a minute.
    assert.equal(await nameAt(reader), "Rex");
    ahead = 60_000;
    assert.equal(await nameAt(reader), "Max");
  },
);

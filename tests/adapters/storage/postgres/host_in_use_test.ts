import assert from "node:assert/strict";
import { connect as connectTo, createServer, type Socket } from "node:net";
import { mock, test, type TestContext } from "node:test";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import type { PostgresHost } from "../../../../adapters/storage/postgres/address.ts";
import type { Connection } from "../../../../adapters/storage/postgres/client.ts";
import { hostInUse } from "../../../../adapters/storage/postgres/host_in_use.ts";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import { petId } from "../../../../core/pets/pet.ts";
import { atEnd } from "../../../support/at_end.ts";
import type { Cluster } from "../../../support/postgres/cluster.ts";
import {
  type Database,
  sharedPostgres,
} from "../../../support/postgres/shared.ts";
import { connect } from "../../../support/postgres/sql.ts";
import { listenOn } from "../../../support/server.ts";
import {
  loseStandby,
  onCluster,
  startCopy,
} from "../../../support/postgres/test_cluster.ts";
import { newPet, REX } from "../../../support/pets.ts";
import { awaitedLater, until } from "../../../support/time.ts";

/**
 * What hosts say: a timeline; 0 if it cannot be read; `null` if the host is read-only; nothing if
 * it is down.
 */
interface Hosts {
  readonly a?: number | null;
  readonly b?: number | null;
  readonly c?: number | null;
}

/** Starts with some hosts, and returns what finds the one in use. */
async function begin(hosts: Hosts, writable = true) {
  let now = hosts;
  const asked: string[] = [];
  const moves: string[] = [];
  const server = hostInUse(
    { hosts: [{ host: "a" }, { host: "b" }, { host: "c" }], writable },
    async ({ host = "" }) => {
      asked.push(host);
      const timeline = now[host as keyof Hosts];
      if (timeline === undefined) throw new Error(`${host} is down`);
      return { isWritable: timeline !== null, timeline: timeline ?? 0 };
    },
    (message) => moves.push(message),
  );
  const faults = await server.replace();
  return {
    ...{ server, asked, moves, faults },
    /** Looks when the next look is due, long after the last one. */
    async lookAt(hosts: Hosts, isLost: boolean) {
      now = hosts;
      const clock = mock.method(performance, "now", () => 1e12);
      const looking = isLost ? server.replace() : server.watch();
      clock.mock.restore();
      await looking;
      await setImmediate(); // a watch ends by then, because the hosts answer at once
    },
  };
}

test("the first of several hosts with the highest timeline is used at first", async () => {
  const cases = [
    [{ a: 1, b: 1, c: 1 }, "a"],
    [{ a: 1, b: 2, c: 2 }, "b"],
    [{ a: null, b: 0, c: 1 }, "c"],
    [{ b: 0, c: 0 }, "b"],
    [{ a: null, b: null }, undefined],
  ] as const;
  for (const [hosts, expected] of cases) {
    const { server, moves } = await begin(hosts);
    assert.equal(server.current?.host, expected);
    assert.deepEqual(moves, []);
  }
});

test("a look moves to a higher timeline, or the same after a loss; never a lower one", async () => {
  const moved = async (
    first: number,
    { isLost = false, ...hosts }: Hosts & { readonly isLost?: boolean },
  ) => {
    const { lookAt, server, moves } = await begin({ a: first });
    await lookAt(hosts, isLost);
    assert.equal(moves.length, server.current?.host === "a" ? 0 : 1);
    return moves[0];
  };
  const cases = [
    [2, { b: 3, c: 3 }, "moved to b, timeline 3"],
    [2, { b: 3, c: 4 }, "moved to c, timeline 4"],
    [2, { b: 2, c: 1 }, undefined],
    [2, { b: 0, c: null }, undefined],
    [0, { b: 3 }, undefined],
    [2, { isLost: true, b: 2, c: 2 }, "moved to b, timeline 2"],
    [2, { isLost: true, b: 2, c: 3 }, "moved to c, timeline 3"],
    [2, { isLost: true, b: 1, c: 0 }, undefined],
    [2, { isLost: true, b: null }, undefined],
    [0, { isLost: true, b: 0 }, "moved to b"],
    [0, { isLost: true, b: 0, c: 3 }, "moved to c, timeline 3"],
  ] as const;
  assert.deepEqual(
    await Promise.all(cases.map(([first, hosts]) => moved(first, hosts))),
    cases.map(([, , expected]) => expected),
  );
});

test("target_session_attrs=any leaves a host only when lost, for the first to answer", async () => {
  const { lookAt, server, moves } = await begin({ b: null, c: 6 }, false);
  assert.equal(server.current?.host, "b");
  await lookAt({ a: 5, b: null, c: 6 }, false);
  await lookAt({ c: 6 }, true);
  await lookAt({ a: 7, b: 7, c: 6 }, false);
  assert.deepEqual(moves, ["moved to b", "moved to c"]);
});

test("other hosts are asked once a second at most, and why none is used is told", async (t) => {
  let time = 0;
  const clock = t.mock.method(performance, "now", () => time);
  t.after(() => clock.mock.restore());
  const { server, asked } = await begin({ a: 2, b: 1 });
  const reasons = ["its timeline is 1, not 2 or later", "c is down"];
  for (const [ms, expected] of [[999, ""], [1000, "bc"], [1999, ""]] as const) {
    time = ms;
    asked.length = 0;
    const faults = await server.replace() as readonly Error[];
    assert.deepEqual(faults.map(({ message }) => message), reasons);
    assert.equal(asked.join(""), expected, `after ${ms} ms`);
  }
});

test("a new connection is used if it leads to the host in use, on no lower timeline", async () => {
  const connection = (
    target: PostgresHost,
    isReadOnly: string,
    logFile: string | null,
  ) => {
    const rows = [[isReadOnly, logFile]];
    return { target, query: async () => ({ rows }) } as unknown as Connection;
  };
  const { server } = await begin({ a: 31, b: 31 });
  const [host = {}, other = {}] = [server.current, { host: "b" }];
  await server.check(connection(host, "off", "0000001F0000000000000001"));
  await server.check(connection(host, "off", null));
  await server.check(connection(host, "off", "000000200000000000000001"));
  const cases = [
    [
      host,
      "off",
      "0000001F0000000000000001",
      "its timeline is 31, not 32 or later",
    ],
    [host, "on", null, "the server is read-only"],
    [other, "off", "000000200000000000000001", "another server is used now"],
  ] as const;
  for (const [target, isReadOnly, logFile, message] of cases) {
    const checking = server.check(connection(target, isReadOnly, logFile));
    await assert.rejects(checking, { message });
  }
});

/** Locks a table, as an operator may, and returns what unlocks it. */
async function lock(t: TestContext, cluster: Cluster, table: string) {
  const locker = await connect(t, cluster.url("postgres"));
  await locker.query(`begin; lock table ${table}`);
  return () => locker.query("rollback");
}

/** Tells how many connections of storages a server has, but for creates that nothing ends. */
async function connections(cluster: Cluster): Promise<number> {
  const [row] = await cluster.query(
    `select count(*)::int as count from pg_stat_activity
      where application_name = 'petstore' and wait_event is distinct from 'SyncRep'`,
  );
  return Number(row?.count);
}

const TOM = newPet({ ...REX, name: "Tom" });
const FIRST = petId(1n);

onCluster()(
  "postgresStorage moves with all that it does once the other server is promoted",
  async ({ t, cluster: old }) => {
    await (await postgresStorage(old.url("postgres"))).close();
    await old.query(
      "insert into pets (name, category_id, status) values ('Rex', 1, 0)",
    );
    const standby = await startCopy(old);
    atEnd(t, () => standby.close());
    const hosts = [old, standby].map(({ port }) => `127.0.0.1:${port}`);
    const open = async () => {
      const moves: string[] = [];
      const storage = await postgresStorage(
        `postgres://postgres@${hosts}/postgres`,
        { queryTimeout: 4000, onMove: (message) => moves.push(message) },
      );
      atEnd(t, () => storage.close());
      return { ...storage, moves };
    };
    const [writer, reader] = [await open(), await open()];
    const key = { name: "k", digest: "d", created: new Date(0) };
    await writer.apiKeys.insert(key);
    const unlock = await lock(t, old, "pets");
    const locked = { kind: "unavailable", message: /lock timeout/ };
    await assert.rejects(writer.create(REX), locked);
    await unlock();
    assert.equal((await writer.get(FIRST))?.name, "Rex");
    assert.deepEqual([...writer.moves, ...reader.moves], []);

    // As if a cluster manager's agent hung: the old primary is not told, and its standby is gone.
    await loseStandby(old);
    const creating = awaitedLater(assert.rejects(writer.create(TOM), {
      kind: "outcome_unknown",
      message: /Query read timeout$/,
    }));
    await until(
      "the create waits for the standby",
      async () =>
        (await old.query(
          "select from pg_stat_activity where wait_event = 'SyncRep'",
        )).length > 0,
    );
    await standby.promote();
    await standby.query("update pets set name = 'Max'");

    // A server that only reads: what it waits for at the old primary is sent again.
    await lock(t, old, "api_keys");
    assert.equal(await reader.apiKeys.isActive("d"), false);
    assert.equal(reader.moves.length, 1);
    // A create that failed.
    await creating;
    await until(
      "the server that failed is left",
      async () => (await writer.get(FIRST))?.name === "Max",
    );

    for (const storage of [writer, reader]) {
      const pet = await storage.create(TOM);
      assert.deepEqual(await storage.get(pet.id), pet);
      assert.equal((await storage.list({ limit: 1 })).pets[0]?.name, "Max");
      assert.equal(await storage.apiKeys.isActive("d"), false);
    }
    const message = `moved to 127.0.0.1:${standby.port}, timeline 2`;
    assert.deepEqual([writer.moves, reader.moves], [[message], [message]]);
    await until(
      "the old server is left",
      async () => await connections(old) === 0,
    );

    // It is not used again, even if the one with the higher timeline is down.
    await standby.stop();
    const refusal = () =>
      writer.create(TOM).then(() => "it is created", ({ message }) => message);
    const reason =
      /no host accepts writes: .*; its timeline is 1, not 2 or later$/;
    await until(
      "the old one is refused",
      async () => reason.test(await refusal()),
    );
  },
);

const { onDatabase: it } = await sharedPostgres();

it("postgresStorage moves to no other server if it may not read the timeline", async ({ url, open, sql }) => {
  const user = `clerk_${Date.now()}`;
  await (await open()).close();
  await sql(`create role ${user} login;
    grant usage on schema public to ${user}; grant all on all tables in schema public to ${user};
    revoke execute on function pg_walfile_name(pg_lsn) from public`);
  const { host, pathname } = new URL(url);
  const storage = await open(`postgres://${user}@${host},${host}${pathname}`);
  assert.equal((await storage.create(REX)).name, "Rex");
  await storage.close();
  await sql(`drop owned by ${user}; drop role ${user}`);
});

it("postgresStorage stays at a server that has no connection left", async ({ t, url, open, sql }) => {
  const user = `clerk_${Date.now()}`;
  await (await open()).close();
  await sql(`create role ${user} login connection limit 2;
    grant usage on schema public to ${user}; grant all on all tables in schema public to ${user}`);
  const { host, pathname } = new URL(url);
  const moves: string[] = [];
  const storage = await open(
    `postgres://${user}@${host},${host}${pathname}`,
    { onMove: (message) => moves.push(message) },
  );
  await storage.ping(); // which finds that the other address can be used too
  const connections = `select from pg_stat_activity where usename = '${user}'`;
  await until("one is open", async () => (await sql(connections)).length === 1);
  const other = await connect(t, `postgres://${user}@${host}${pathname}`);
  const reads = await Promise.allSettled([storage.ping(), storage.ping()]);
  assert.deepEqual(moves, []);
  assert.equal(reads[0]?.status, "fulfilled");
  assert.match(
    reads[1]?.status === "rejected" ? reads[1].reason.message : "",
    /: too many connections for role/,
  );
  await other.end();
  await storage.close();
  await sql(`drop owned by ${user}; drop role ${user}`);
});

/** Another host, which hangs up at once until it falls silent, and an address of both. */
async function withOther({ t, url }: Database) {
  const silent = new Set<Socket>();
  const other = { silent, isSilent: false, accepted: 0, most: 0 };
  const server = createServer((socket) => {
    other.accepted++;
    if (!other.isSilent) return socket.destroy();
    silent.add(socket);
    other.most = Math.max(other.most, silent.size);
    socket.on("error", () => {}).on("close", () => silent.delete(socket))
      .resume();
  });
  const port = await listenOn(t, server);
  atEnd(t, () => silent.forEach((socket) => socket.destroy()));
  const { host } = new URL(url);
  const both = url.replace(host, `${host},127.0.0.1:${port}`);
  return { port, other, both };
}

it("a create that failed has other hosts looked at, and does not wait for it", async (database) => {
  const { other, both } = await withOther(database);
  const storage = await database.open(both, { connectTimeout: 20_000 });
  other.isSilent = true;
  const locker = await database.connect();
  await locker.query("begin; lock table pets");
  const creating = storage.create(REX).catch(({ kind }) => kind);
  const late = delay(10_000, "it waits", { ref: false });
  assert.equal(await Promise.race([creating, late]), "unavailable");
  await until("the other host is asked", () => other.silent.size > 0);
  await locker.query("commit");
  await storage.create(REX);
});

it("postgresStorage has one connection to another host, and none once it is closed", async (database) => {
  const { port, other, both } = await withOther(database);
  const storage = await database.open(both, { connectTimeout: 60_000 });
  other.isSilent = true;
  let ahead = 0;
  const { now } = performance;
  database.t.mock.method(
    performance,
    "now",
    () => now.call(performance) + ahead,
  );
  for (let i = 0; i < 20; i++) {
    ahead += 1000; // if the other host answered, the next look would be due
    await Promise.all([storage.ping(), storage.list({ limit: 1 })]);
  }
  await until("it looks", () => other.silent.size > 0);
  await storage.close();
  await until("the connection is closed", () => other.silent.size === 0);
  assert.equal(other.most, 1);

  ahead += 1000;
  const before = other.accepted;
  const key = { name: "k", digest: "d", created: new Date(0) };
  await assert.rejects(storage.apiKeys.insert(key), /the storage is closed/);
  const ours = connectTo(port, "127.0.0.1");
  await until("ours is accepted", () => other.accepted > before);
  assert.equal(other.accepted, before + 1);
  ours.destroy();
});

import assert from "node:assert/strict";
import { connect as connectTo, createServer, type Socket } from "node:net";
import { parsePostgresUrl } from "../../../../adapters/storage/postgres/address.ts";
import { connectionPool } from "../../../../adapters/storage/postgres/pool.ts";
import { settingsOf } from "../../../../adapters/storage/postgres/settings.ts";
import { splitBrainWatch } from "../../../../adapters/storage/postgres/split_brain.ts";
import { atEnd } from "../../../support/at_end.ts";
import { startCluster } from "../../../support/postgres/cluster.ts";
import { PATIENT, sharedPostgres } from "../../../support/postgres/shared.ts";
import { onCluster } from "../../../support/postgres/test_cluster.ts";
import { REX } from "../../../support/pets.ts";
import { listenOn } from "../../../support/server.ts";
import { ask } from "../../../contract/ask.ts";
import { startMain } from "../../../support/standalone.ts";
import { until } from "../../../support/time.ts";

const { onDatabase } = await sharedPostgres();

onCluster()(
  "a server warns at its start if two hosts accept writes, and works",
  async ({ t, cluster: one }) => {
    const other = await startCluster();
    atEnd(t, () => other.close());
    const hosts = [one, other].map(({ port }) => `127.0.0.1:${port}`);
    const server = await startMain(t, {
      env: {
        DATABASE_URL: `postgres://postgres@${hosts}/postgres`,
        METRICS: "on",
      },
    });
    await until("it warns", () => server.stderr().includes("two hosts"));
    const [line = ""] = server.stderr().match(/^\{.*two hosts.*\}$/gm) ?? [];
    const { time, ...message } = JSON.parse(line);
    assert.ok(Math.abs(Date.now() - Date.parse(time)) < 60_000, time);
    assert.deepEqual(message, {
      message: `two hosts accept writes: fence the old one (${
        hosts.join(", ")
      })`,
    });
    const { text } = await ask(server, "GET", "/metrics");
    assert.match(text, /^petstore_postgres_split_brain_total 1$/m);
    const { status } = await ask(server, "GET", "/v1/pets");
    assert.equal(status, 200);
    assert.equal(await server.end(), 0);
  },
);

onDatabase.test("hosts that lead to one server, or are never written to, are no split brain", async ({ t, url, sql }) => {
  const { host } = new URL(url);
  const address = parsePostgresUrl(url.replace(host, `${host},${host}`));
  const warnings: string[] = [];
  for (const writable of [true, false]) {
    const pool = connectionPool(
      { ...address, writable },
      {
        ...PATIENT,
        lockTimeout: 60_000,
        onWarning: (message) => warnings.push(message),
      },
    );
    atEnd(t, () => pool.close());
    pool.giveBack(await pool.take("read"));
    const asking = `select from pg_stat_activity
      where datname = current_database() and query like '%concat(pg_post%'
        and pid <> pg_backend_pid()`;
    // The first pool keeps its connection, which was asked too; the other one is ended.
    await until(
      "the other was asked",
      async () => (await sql(asking)).length === 1,
    );
    assert.equal(pool.counts().splitBrains, 0, `${writable}`);
  }
  assert.deepEqual(warnings, []);
});

onDatabase.test("no host is asked after close, even if it was asked just then", async ({ t, url }) => {
  let accepted = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    accepted++;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      .resume();
  });
  const port = await listenOn(t, server);
  atEnd(t, () => sockets.forEach((socket) => socket.destroy()));
  const { host } = new URL(url);
  const address = parsePostgresUrl(
    url.replace(host, `${host},127.0.0.1:${port}`),
  );
  const times = { ...PATIENT, lockTimeout: 60_000 };
  const watch = splitBrainWatch(address, settingsOf(address, times), () => {});
  const [used = {}] = address.hosts;
  watch.look(used, "its start");
  await until("it is asked", () => accepted === 1);
  watch.close();
  await until("the connection is closed", () => sockets.size === 0);
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + 60_000);
  watch.look(used, "its start");

  const ours = connectTo(port, "127.0.0.1");
  await until("ours is accepted", () => accepted > 1);
  assert.equal(accepted, 2);
  assert.equal(ours.localPort, [...sockets][0]?.remotePort);
  ours.destroy();
});

onDatabase.test("one connection at a time asks a host that hangs, and none after close", async ({ t, url, open }) => {
  const silent = new Set<Socket>();
  let accepted = 0;
  let most = 0;
  const server = createServer((socket) => {
    accepted++;
    silent.add(socket);
    most = Math.max(most, silent.size);
    socket.on("error", () => {}).on("close", () => silent.delete(socket))
      .resume();
  });
  const port = await listenOn(t, server);
  atEnd(t, () => silent.forEach((socket) => socket.destroy()));
  const { host } = new URL(url);
  const both = url.replace(host, `${host},127.0.0.1:${port}`);
  const storage = await open(both);
  let ahead = 0;
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + ahead);
  for (let i = 0; i < 20; i++) {
    ahead += 60_000; // connections are too old now, and the next look would be due
    await Promise.all([storage.ping(), storage.list({ limit: 1 })]);
    assert.equal((await storage.create(REX)).name, "Rex");
  }
  await until("it is asked", () => silent.size > 0);
  await storage.close();
  await until("the connection is closed", () => silent.size === 0);
  assert.equal(most, 1);

  const before = accepted;
  const ours = connectTo(port, "127.0.0.1");
  await until("ours is accepted", () => accepted > before);
  assert.equal(accepted, before + 1);
  ours.destroy();
});

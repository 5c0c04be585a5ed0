import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { skipping } from "../skipping.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { missingPgBouncer, startPgBouncer } from "./pgbouncer.ts";
import { childrenOf, isAlive } from "./process_tree.ts";
import { runSql } from "./sql.ts";
import { missingStandby, startStandby } from "./standby.ts";
import { enableTls, missingTls } from "./tls.ts";
import { until } from "./until.ts";

const timeout = 60_000;
const missing = skipping((await findBinaries()).missing);
const needing = (reason: string | false) => ({
  skip: missing || skipping(reason),
  timeout,
});
const options = { skip: missing, timeout };

let cluster: Promise<Cluster> | undefined;
after(async () => await (await cluster)?.close());

/** One server for the tests that leave it running. */
function server(): Promise<Cluster> {
  return cluster ??= startCluster();
}

test(
  "startCluster starts a server that answers and that is durable",
  options,
  async () => {
    const { query, version } = await server();
    assert.deepEqual(await query("select 1 as one"), [{ one: 1 }]);
    assert.deepEqual(
      await query("select current_setting('server_version') like $1 as same", {
        values: [`${version}%`],
      }),
      [{ same: true }],
    );
    assert.deepEqual(await query("show fsync"), [{ fsync: "on" }]);
  },
);

test("A cluster listens on 127.0.0.1 alone", options, async () => {
  const { query } = await server();
  assert.deepEqual(await query("show listen_addresses"), [
    { listen_addresses: "127.0.0.1" },
  ]);
  assert.deepEqual(await query("show unix_socket_directories"), [
    { unix_socket_directories: "" },
  ]);
});

test("A cluster takes settings, a password and a port", options, async () => {
  const { port } = await server();
  await assert.rejects(startCluster({ port }), /Address already in use/);
  const cluster = await startCluster({
    settings: { fsync: "off", application_name: "it's" },
    password: "p@ss/word",
  });
  try {
    assert.deepEqual(await cluster.query("show fsync"), [{ fsync: "off" }]);
    assert.deepEqual(await cluster.query("show application_name"), [
      { application_name: "it's" },
    ]);
    const url = new URL(await cluster.newDatabase());
    assert.deepEqual(await runSql(url.href, "select 1 as one"), [{ one: 1 }]);
    url.password = "other";
    await assert.rejects(runSql(url.href, "select 1"), { code: "28P01" });
  } finally {
    await cluster.close();
  }
});

test(
  "newDatabase of a cluster gives an empty database in UTF-8",
  options,
  async () => {
    const { newDatabase } = await server();
    const [one, other] = [await newDatabase(), await newDatabase()];
    await runSql(one, "create table pet (id bigint)");
    const found = "select to_regclass('pet')::text as pet";
    assert.deepEqual(await runSql(one, found), [{ pet: "pet" }]);
    assert.deepEqual(await runSql(other, found), [{ pet: null }]);
    assert.deepEqual(await runSql(other, "show server_encoding"), [
      { server_encoding: "UTF8" },
    ]);
  },
);

test(
  "backends finds the backends of clients, and those amid a text",
  options,
  async () => {
    const { backends, newDatabase } = await server();
    const idle = await connect(await newDatabase());
    const busy = await connect(await newDatabase());
    try {
      const [idlePid, busyPid] = [await pidOf(idle), await pidOf(busy)];
      const asleep = busy.query("select pg_sleep(60)");
      await until(
        "it sleeps",
        async () => (await backends("pg_sleep")).length > 0,
      );
      assert.deepEqual(await backends("pg_sleep"), [busyPid]);
      const all = await backends();
      assert.ok(all.includes(idlePid) && all.includes(busyPid), `${all}`);
      process.kill(busyPid, "SIGTERM");
      await assert.rejects(asleep, { code: "57P01" });
    } finally {
      await Promise.all([idle.end(), busy.end()]);
    }
  },
);

test("restart keeps the data and the port", options, async () => {
  const { newDatabase, restart, port } = await server();
  for (const mode of ["smart", "fast", "immediate"] as const) {
    const url = await newDatabase();
    await runSql(url, "create table pet as select 7 as id");
    await restart(mode);
    assert.equal(new URL(url).port, String(port));
    assert.deepEqual(await runSql(url, "table pet"), [{ id: 7 }]);
  }
});

test(
  "kill leaves no process, and start brings the data again",
  options,
  async () => {
    const cluster = await server();
    const url = await cluster.newDatabase();
    await runSql(url, "create table pet as select 8 as id");
    const client = await connect(url);
    const asleep = assert.rejects(client.query("select pg_sleep(60)"));
    await until(
      "it sleeps",
      async () => (await cluster.backends("pg_sleep")).length > 0,
    );
    const family = [cluster.pid, ...childrenOf(cluster.pid)];
    assert.ok(family.length > 4, `${family}`);
    await cluster.kill();
    assert.deepEqual(family.filter(isAlive), []);
    await asleep;
    await assert.rejects(runSql(url, "table pet"), { code: "ECONNREFUSED" });
    await cluster.start();
    assert.ok(!family.includes(cluster.pid));
    assert.deepEqual(await runSql(url, "table pet"), [{ id: 8 }]);
  },
);

test(
  "pause leaves queries without an answer until resume",
  options,
  async () => {
    const cluster = await server();
    const client = await connect(await cluster.newDatabase(), 300);
    try {
      assert.deepEqual((await client.query("select 1 as n")).rows, [{ n: 1 }]);
      await cluster.pause();
      await assert.rejects(client.query("select 2 as n"), /timeout/);
      cluster.resume();
      assert.deepEqual((await client.query("select 3 as n")).rows, [{ n: 3 }]);
    } finally {
      cluster.resume();
      await client.end();
    }
  },
);

test(
  "A standby has what was committed, and takes writes once it is promoted",
  needing(await missingStandby()),
  async () => {
    const primary = await startCluster();
    const standby = await startStandby(primary, { synchronous: true });
    try {
      await primary.query("create table pet as select 9 as id");
      // It has the commit on its disk; what its queries see follows.
      await until("the standby has the table", async () => {
        const [row] = await standby.query(
          "select to_regclass('pet') is not null as has",
        );
        return row?.has === true;
      });
      assert.deepEqual(await standby.query("table pet"), [{ id: 9 }]);
      const write = "insert into pet values (10)";
      await assert.rejects(standby.query(write), { code: "25006" });
      await primary.kill();
      await standby.promote();
      await standby.query(write);
      assert.deepEqual(await standby.query("table pet"), [{ id: 9 }, {
        id: 10,
      }]);
    } finally {
      await Promise.all([standby.close(), primary.close()]);
    }
  },
);

test(
  "PgBouncer gives a connection of the server to one transaction after another",
  {
    skip: missing || missingPgBouncer,
    timeout,
  },
  async () => {
    const cluster = await server();
    const url = new URL(await cluster.newDatabase());
    const pgbouncer = await startPgBouncer(cluster, { default_pool_size: "1" });
    try {
      const pooled = pgbouncer.url(url.pathname.slice(1));
      const [one, other] = [await connect(pooled), await connect(pooled)];
      assert.equal(await pidOf(one), await pidOf(other));
      assert.deepEqual((await one.query("select 1 as n")).rows, [{ n: 1 }]);
      await Promise.all([one.end(), other.end()]);
    } finally {
      await pgbouncer.close();
    }
    assert.ok(!isAlive(pgbouncer.pid));
  },
);

test(
  "TLS is verified with the authority's certificate, and fails without",
  needing(await missingTls()),
  async () => {
    const cluster = await server();
    const authority = await enableTls(cluster);
    const url = `${cluster.url("postgres")}?sslmode=verify-full`;
    const isSecure = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    assert.deepEqual(
      await runSql(`${url}&sslrootcert=${authority}`, isSecure),
      [{ ssl: true }],
    );
    await assert.rejects(runSql(url, isSecure), /certificate/);
    assert.deepEqual(await cluster.query(isSecure), [{ ssl: false }]);
  },
);

test("close leaves no process and no folder", options, async () => {
  const cluster = await startCluster();
  const family = [cluster.pid, ...childrenOf(cluster.pid)];
  assert.ok(family.every(isAlive) && existsSync(cluster.folder));
  await cluster.pause();
  await cluster.close();
  assert.deepEqual(family.filter(isAlive), []);
  assert.ok(!existsSync(cluster.folder));
});

test("A cluster ends with a process that is killed", options, async () => {
  const program = fileURLToPath(new URL("leave_running.ts", import.meta.url));
  const flags = process.versions.deno === undefined ? [] : ["run", "-A"];
  const child = spawn(process.execPath, [...flags, program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })
    [Symbol.asyncIterator]();
  const { pid, folder } = JSON.parse((await lines.next()).value ?? "{}");
  const family = [pid, ...childrenOf(pid)];
  assert.ok(family.length > 4 && family.every(isAlive), `${family}`);
  child.kill("SIGKILL");
  await until("its folder is gone", () => !existsSync(folder));
  assert.deepEqual(family.filter(isAlive), []);
});

/** A connection; its queries are given up after `query_timeout` ms. */
async function connect(url: string, query_timeout?: number): Promise<Client> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    ...(query_timeout !== undefined && { query_timeout }),
  });
  // Some of the servers are killed.
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query("select pg_backend_pid() as pid");
  return Number(rows[0]?.pid);
}

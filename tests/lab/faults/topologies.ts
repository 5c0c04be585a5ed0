/** Pet stores that share a database, and the faults that they must survive. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { postgresStorage } from "../../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";
import { issuedKeys } from "../../../adapters/keys/issued_keys.ts";
import { atEnd } from "../../support/at_end.ts";
import { type Cluster, startCluster } from "../../support/postgres/cluster.ts";
import {
  missingPgBouncer,
  NO_CLUSTER,
  type Standby,
  startPgBouncer,
  startStandby,
} from "../../support/postgres/test_cluster.ts";
import { missing, type Runtime, skipping } from "../../support/runtime.ts";
import { compileFailingDisk } from "../../support/failing_disk.ts";
import type { ServerOptions } from "../../support/standalone.ts";
import { until } from "../../support/time.ts";
import {
  atOnce,
  crash,
  type Fault,
  freeze,
  kill,
  type PetServer,
  restart,
  startServer,
  takeConnections,
  terminate,
  whileThere,
} from "./faults.ts";
import type { Operation } from "./checker.ts";
import { openLine } from "../../support/line.ts";
import type { Keys } from "./recorder.ts";

/** Pet stores under way. */
export interface Place {
  readonly servers: readonly PetServer[];
  /** Issues and revokes keys in their database. */
  readonly keys: Keys;
  /** By what is broken. */
  readonly faults: Readonly<Record<string, Fault>>;
  /** The longest that any answer may take, in ms. */
  readonly longest: number;
}

/** The folder of the servers, and `main.ts` of a mutant. */
interface PlaceOptions extends Pick<ServerOptions, "main"> {
  readonly cwd: string;
}

/** Pet stores that can be started. */
export interface Topology {
  readonly name: string;
  /** Why they cannot be started here. */
  readonly skip: string | false;
  start(t: TestContext, options: PlaceOptions): Promise<Place>;
}

/** The time that a busy machine may add, in ms. */
const SLACK = 1500;
/** The defaults of `postgresStorage`: `connectTimeout` at each server, `queryTimeout`, and the wait. */
export const longest = (hosts: number): number =>
  hosts * 3000 + 5000 + 2000 + SLACK;
/** Longer than any statement is waited for, in ms. */
const HANG = 6500;
/** On a fast disk hardly two transactions overlap, and then nothing could go wrong. */
const SLOW_COMMITS = { commit_delay: "3000", commit_siblings: "0" };

const sqlite: Topology = {
  name: "3 servers on SQLite",
  skip: missing("cc", "a C compiler makes the full disk"),
  async start(t, options) {
    const path = join(options.cwd, "petstore.db");
    const trigger = (name: string): string => join(options.cwd, name);
    const env = {
      DATABASE_URL: `sqlite:${path}`,
      LD_PRELOAD: compileFailingDisk(options.cwd) ?? "",
      FULL_DISK: trigger("full disk"),
      FULL_FOR_SHM: trigger("full for shm"),
      FULL_LOG: trigger("full log"),
    };
    const start = (name: string) => startServer(t, { name, ...options, env });
    const a = await start("server 1");
    const b = await start("server 2");
    const c = await start("server 3");
    const servers = [a, b, c];
    const fullForShm = (then: Fault): Fault => async (recorder) => {
      // As long as somebody reads an old state, the log grows, and its index with it.
      const reader = new DatabaseSync(path, { readOnly: true });
      reader.exec("BEGIN; SELECT * FROM pets LIMIT 1");
      await whileThere(env.FULL_FOR_SHM, async (recorder) => {
        await untilFailed(recorder);
        await then(recorder);
        reader.close();
      })(recorder);
    };
    return {
      servers,
      keys: sqliteKeys(path),
      longest: 5000 + 2000 + SLACK,
      faults: {
        "a server killed": kill(a),
        "all servers killed": kill(a, b, c),
        "a server frozen": freeze(b, 1500),
        "a server restarted": restart(c),
        "the disk full": whileThere(env.FULL_DISK, untilFailed),
        "the disk full and a server killed": atOnce(
          whileThere(env.FULL_DISK, untilFailed),
          kill(b),
        ),
        "no space for the log of requests": whileThere(
          env.FULL_LOG,
          (recorder) => recorder.more(100),
        ),
        "no space for the index of SQLite's log": fullForShm(() => pause(100)),
        "no space for the index, and all servers killed": async (recorder) => {
          const killed = fullForShm((recorder) =>
            // The last create that failed stands in the log, where the next one would overwrite it.
            recorder.quietly("all", async () => {
              await pause(300);
              await Promise.all(servers.map((server) => server.kill()));
            })
          );
          await killed(recorder);
          await Promise.all(servers.map((server) => server.start()));
        },
      },
    };
  },
};

const postgres: Topology = {
  name: "3 servers on PostgreSQL",
  skip: NO_CLUSTER,
  async start(t, options) {
    const settings = { ...SLOW_COMMITS, max_connections: "25" };
    const cluster = await startCluster({ settings });
    atEnd(t, cluster.close);
    const url = `${await cluster.newDatabase()}?connection_limit=4`;
    const place = await onPostgres(t, options, [url, url, url]);
    const [a, b, c] = place.servers;
    assert.ok(a && b && c);
    return {
      ...place,
      longest: longest(1),
      faults: {
        "PostgreSQL killed": kill(cluster),
        "all backends killed": crash(cluster),
        "PostgreSQL restarted": restart(cluster),
        "all connections terminated": terminate(cluster),
        "all connections taken": takeConnections(url, 1000),
        "PostgreSQL and a server killed": atOnce(kill(cluster), kill(a)),
        "PostgreSQL frozen, a server killed and another restarted": atOnce(
          async () => {
            await cluster.pause();
            const hang = pause(HANG);
            // After 3 s without a connection, or 5 s without an answer.
            assert.equal(await a.readiness(), 503);
            await hang;
            cluster.resume();
          },
          kill(b),
          restart(c),
        ),
      },
    };
  },
};

const standby: Topology = {
  name: "3 servers on PostgreSQL with a synchronous standby, and a replica",
  skip: NO_CLUSTER,
  async start(t, options) {
    const pair = await startPair(t);
    const { pathname } = new URL(await pair.primary.newDatabase());
    const login = "postgres://postgres@";
    const both = `${login}${pair.addresses}${pathname}`;
    const moving = `${login}${pair.moving.primary}${pathname}`;
    const replica = `${login}${pair.moving.standby}${pathname}`;
    const urls = [both, both, moving];
    const place = await onPostgres(t, options, urls, { replica });
    const [, b] = place.servers;
    assert.ok(b);
    return {
      ...place,
      longest: longest(2),
      faults: {
        "primary and a server killed, standby promoted": failOver(
          pair,
          "kill",
          kill(b),
        ),
        "primary cut off, standby promoted": failOver(pair, "cut off"),
        "standby gone and primary killed": async (recorder) => {
          await pair.standby.stop();
          await recorder.until(isUncertain);
          for (const { isReplica, name, readiness } of place.servers) {
            const isReady = async () => await readiness() === 200;
            if (!isReplica) await until(`${name} is ready`, isReady);
          }
          await kill(pair.primary)(recorder);
          await pause(500);
          await pair.standby.start();
        },
        "standby gone, waits ended, then a failover": async (recorder) => {
          await pair.standby.stop();
          await recorder.until(isUncertain);
          await recorder.quietly("new", async () => {
            for (let rounds = 0; rounds < 6; rounds++) {
              await terminate(pair.primary)(recorder);
              // So that clients send again what they are not sure of.
              await pause(500);
            }
          });
          await recorder.failover(async () => {
            await pair.primary.kill();
            await pair.standby.start();
            await pair.failOver("kill");
          });
          await recorder.more(20);
          await pair.repair();
        },
      },
    };
  },
};

/** The standby takes over; once pets are added there, it has a standby too. */
const failOver =
  (pair: Pair, how: "kill" | "cut off", meanwhile?: Fault): Fault =>
  async (recorder) => {
    await recorder.failover(() => pair.failOver(how));
    await meanwhile?.(recorder);
    // Then nobody uses the former primary any more, where no pet can be added.
    await recorder.untilEachAdds();
    await recorder.more(20);
    await pair.repair();
  };

const pgbouncer: Topology = {
  name: "2 servers on PostgreSQL behind PgBouncer",
  skip: NO_CLUSTER || skipping(missingPgBouncer),
  async start(t, options) {
    const cluster = await startCluster();
    atEnd(t, cluster.close);
    const pooler = await startPgBouncer(cluster, {
      default_pool_size: "5",
      max_client_conn: "500",
      // After a server that could not be reached it would turn everybody away for 15 s.
      server_login_retry: "1",
    });
    atEnd(t, pooler.close);
    const { pathname } = new URL(await cluster.newDatabase());
    const url = `${pooler.url(pathname.slice(1))}?pgbouncer=true`;
    return {
      ...await onPostgres(t, options, [url, url]),
      longest: longest(1),
      faults: {
        "the pooler killed": kill(pooler),
        "PostgreSQL killed behind the pooler": kill(cluster),
        "connections behind the pooler terminated": terminate(cluster),
        "the pooler and PostgreSQL killed": atOnce(
          kill(pooler),
          kill(cluster),
        ),
      },
    };
  },
};

/** A create without an answer that tells its outcome. */
const isUncertain = (each: Operation): boolean =>
  each.kind === "create" && each.outcome === "unknown";
const isFailed = (each: Operation): boolean =>
  isUncertain(each) || each.kind === "create" && each.outcome === "refused";
/**
 * Waits until a create fails: SQLite overwrites a log of up to 16 MB before it needs more space,
 * which takes a minute on a slow disk.
 */
const untilFailed: Fault = (recorder) => recorder.until(isFailed, 120_000);

/** All of them. */
export const TOPOLOGIES = {
  sqlite,
  postgres,
  standby,
  pgbouncer,
} as const;

/** Starts a server for each URL, on these runtimes, and perhaps one for that of a standby. */
export async function onPostgres(
  t: TestContext,
  options: PlaceOptions,
  urls: readonly string[],
  { replica, runtimes = [] }: {
    readonly replica?: string;
    readonly runtimes?: readonly Runtime[];
  } = {},
): Promise<Pick<Place, "servers" | "keys">> {
  const storage = await postgresStorage(urls[0] ?? "");
  atEnd(t, storage.close);
  const servers: PetServer[] = [];
  const all = replica === undefined ? urls : [...urls, replica];
  for (const [index, url] of all.entries()) {
    const isReplica = url === replica;
    const runtime = runtimes[index];
    servers.push(
      await startServer(t, {
        name: isReplica ? "replica" : `server ${index + 1}`,
        isReplica,
        ...options,
        env: { DATABASE_URL: url, REQUEST_LOG: "off" },
        ...runtime !== undefined && { runtime },
      }),
    );
  }
  return { servers, keys: issuedKeys(storage.apiKeys) };
}

/** Opens the file for each change: it is in use by nobody once all servers are killed. */
function sqliteKeys(path: string): Keys {
  async function use<T>(work: (keys: Keys) => Promise<T>): Promise<T> {
    const storage = await sqliteStorage(path);
    try {
      return await work(issuedKeys(storage.apiKeys));
    } finally {
      await storage.close();
    }
  }
  return {
    issue: (name) => use((keys) => keys.issue(name)),
    revoke: (id) => use((keys) => keys.revoke(id)),
  };
}

/**
 * The delay between the primary and the standby, in ms: more than it takes to kill the primary,
 * so that a standby that is not waited for would lose what was acknowledged.
 */
const DISTANCE = 60;

type Pair = Awaited<ReturnType<typeof startPair>>;

/** Starts a primary and its standby, which change places. */
async function startPair(t: TestContext) {
  let primary = await startCluster();
  atEnd(t, primary.close);
  let former: Cluster | undefined;
  let standby = await follow();
  // By turns the address of the primary and of the standby.
  const one = await openLine(t, primary.port);
  const other = await openLine(t, standby.port);
  const moving = {
    primary: await openLine(t, primary.port),
    standby: await openLine(t, standby.port),
  };
  let [ofPrimary, ofStandby] = [one, other];

  /** A standby of the primary, at some distance of it. */
  async function follow(): Promise<Standby> {
    const line = await openLine(t, primary.port);
    const url = new URL(primary.url("postgres"));
    url.port = String(line.port);
    const standby = await startStandby({ ...primary, url: () => url.href });
    atEnd(t, standby.close);
    line.delay(DISTANCE);
    return standby;
  }

  return {
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    /** The addresses of both servers, whichever is the primary: `HOST:PORT,HOST:PORT`. */
    addresses: `127.0.0.1:${one.port},127.0.0.1:${other.port}`,
    /** An address that leads to the primary, and one that leads to the standby; both move. */
    moving: {
      primary: `127.0.0.1:${moving.primary.port}`,
      standby: `127.0.0.1:${moving.standby.port}`,
    },

    /** Kills the primary, or cuts it off, and promotes the standby, which may have been stopped. */
    async failOver(how: "kill" | "cut off"): Promise<void> {
      if (how === "kill") await primary.kill();
      // At both addresses: whoever still reached it would not see what the new one adds.
      else [ofPrimary, moving.primary].forEach((line) => line.cutOff());
      await standby.promote();
      moving.primary.leadTo(standby.port);
      moving.primary.heal();
      former = primary;
      primary = standby;
      [ofPrimary, ofStandby] = [ofStandby, ofPrimary];
    },

    /** Puts a standby of the new primary in the place of the former one, and waits for it. */
    async repair(): Promise<void> {
      // Comes back as it was, if it was cut off.
      ofStandby.heal();
      // Before the new one is stopped: a server that has not moved yet must not find it alone.
      await former?.close();
      standby = await follow();
      ofStandby.leadTo(standby.port);
      moving.standby.leadTo(standby.port);
    },
  };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { Pool } from "pg";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { runSql } from "../support/postgres/sql.ts";
import { Load, pause } from "./load.ts";
import { type Servers, withServers } from "./servers.ts";
import { startWalk } from "./walker.ts";

const { missing } = await findBinaries();
const options = { skip: missing, timeout: 120_000 };

/** How long animals are added in a round, in ms. */
const ROUND = 5000;
/** The most rounds in which a control may miss something. */
const MAX_ROUNDS = 5;

/** On a fast disk hardly two transactions overlap, and then nothing could be missed. */
const SLOW_COMMITS = { commit_delay: "3000", commit_siblings: "0" };

/** What readers saw of the animals that were added. */
interface Walked {
  readonly animals: number;
  /** Animals that a reader never saw, because it had passed their ids when they became visible. */
  readonly missed: number;
}

test(
  "a reader that walks the pages again and again misses no animal of four servers",
  options,
  async () => {
    const { animals, missed } = await round({ write: writeToServers });
    console.log(`four servers: ${animals} walked, ${missed} missed`);
    assert.ok(animals > 1000, "there was load");
    assert.equal(missed, 0);
  },
);

test(
  "the control: the same reader misses animals of the same servers where no lock makes them take turns",
  options,
  async () => {
    await assertMisses("four servers without the lock", {
      prepare: removeLock,
      write: writeToServers,
    });
  },
);

test(
  "the control: the same reader misses animals that are inserted plainly",
  options,
  async () => {
    await assertMisses("plain inserts", { write: insertPlainly });
  },
);

/** How a round differs from others. */
interface Round {
  /** Returns the `DATABASE_URL` of the servers. */
  readonly prepare?: (url: string) => Promise<string>;
  /** Adds animals for {@linkcode ROUND} ms. */
  readonly write: (servers: Servers, url: string) => Promise<void>;
}

async function assertMisses(what: string, control: Round): Promise<void> {
  let animals = 0;
  let missed = 0;
  for (let rounds = 0; missed === 0 && rounds < MAX_ROUNDS; rounds++) {
    const walked = await round(control);
    animals += walked.animals;
    missed += walked.missed;
  }
  console.log(`control, ${what}: ${animals} walked, ${missed} missed`);
  assert.ok(missed > 0, "this test could not fail");
}

async function round({ prepare, write }: Round): Promise<Walked> {
  const cluster = await startCluster({ settings: SLOW_COMMITS });
  try {
    const url = await cluster.newDatabase();
    let walked: Walked = { animals: 0, missed: 0 };
    await withServers(4, await prepare?.(url) ?? url, async (servers) => {
      const walkers = [startWalk(servers[0]), startWalk(servers[0])];
      await write(servers, url);
      const seen = await Promise.all(walkers.map((walker) => walker.finish()));
      const rows = await runSql(url, "select id from pets");
      const ids = rows.map(({ id }) => BigInt(String(id)));
      walked = {
        animals: ids.length,
        missed: ids.filter((id) => seen.some((walk) => !walk.has(id))).length,
      };
    });
    return walked;
  } finally {
    await cluster.close();
  }
}

async function writeToServers(servers: Servers): Promise<void> {
  const load = new Load();
  for (const server of servers) load.start(server, { writers: 8 });
  await pause(ROUND);
  await load.stop();
  assert.equal(load.count("acknowledged"), load.creates.length);
}

/** Makes the tables, and has the servers find a lock that does nothing before PostgreSQL's own. */
async function removeLock(url: string): Promise<string> {
  await (await postgresStorage(url)).close();
  await runSql(
    url,
    `create schema unlocked;
    create function unlocked.pg_advisory_xact_lock(bigint) returns void
      language sql as ''`,
  );
  const path = encodeURIComponent(
    "-c search_path=unlocked,pg_catalog,public",
  );
  return `${url}?options=${path}`;
}

async function insertPlainly(_: Servers, url: string): Promise<void> {
  const connections = 16;
  const pool = new Pool({ connectionString: url, max: connections });
  const end = performance.now() + ROUND;
  const insert =
    "insert into pets (name, category_id, status) values ($1, 1, 0)";
  try {
    await Promise.all(Array.from({ length: connections }, async () => {
      while (performance.now() < end) await pool.query(insert, ["Rex"]);
    }));
  } finally {
    await pool.end();
  }
}

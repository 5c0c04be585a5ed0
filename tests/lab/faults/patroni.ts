/** Pet stores on a cluster that Patroni manages, and the faults that both must survive. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { atEnd } from "../../support/at_end.ts";
import {
  findBinaries,
  requireBinaries,
} from "../../support/postgres/binaries.ts";
import {
  type Daemon,
  daemon,
  guardedFolder,
  killTree,
  pauseTree,
  serverAccount,
  signal,
} from "../../support/postgres/processes.ts";
import { runSql } from "../../support/postgres/sql.ts";
import { findProgram, freePort, run } from "../../support/process.ts";
import { readText } from "../../support/repository.ts";
import { findRuntimes, skipping } from "../../support/runtime.ts";
import { until } from "../../support/time.ts";
import { type Fault, kill } from "./faults.ts";
import { isAdded } from "./recorder.ts";
import { longest, onPostgres, type Topology } from "./topologies.ts";

/** The shortest time, in seconds, within which Patroni replaces a lost leader. */
const TTL = 20;
/**
 * Time within which each server has left an old primary, in ms: it looks for a new one once a
 * second.
 */
const MOVING = 3000;
/** Time from a promotion to the next pet that is added, in ms: 4.5 s on a busy machine. */
const RECOVERY = 9000;

/** So that nothing is left elsewhere by a server that is killed. */
const SETTINGS = `unix_socket_directories: ""
        dynamic_shared_memory_type: mmap
        `;

function find(program: string): string {
  return findProgram(program) ?? program;
}

/** `false`, or why there can be no cluster. */
async function missingPatroni(): Promise<string | false> {
  const binaries = await findBinaries();
  if (binaries.missing !== false) return binaries.missing;
  const programs = [
    [join(binaries.folder, "pg_basebackup"), "--version"],
    [find("etcd"), "--version"],
    [find("haproxy"), "-v"],
    [find("patroni"), "--version"],
  ] as const;
  for (const command of programs) {
    // The servers' account may not see what is root's.
    const { code } = await run([...serverAccount().prefix, ...command]);
    if (code !== 0) {
      return `${
        command[0]
      } cannot be run: Patroni needs etcd-server and haproxy of Debian, patroni[etcd3] and psycopg[binary] of PyPI, and the pg_basebackup that TEST_POSTGRES_BIN may name`;
    }
  }
  return false;
}

/** The fault that is the hardest for the pet stores. */
export const AGENT_HUNG = "the leader's agent hung, a server killed";

const runtimes = findRuntimes();
const missing = runtimes.find(({ missing }) => missing !== undefined)?.missing;

/** A server on each runtime with an address of all nodes, and one behind HAProxy. */
export const PATRONI: Topology = {
  name: "3 servers on 3 nodes of Patroni, and one behind HAProxy",
  skip: missing ?? skipping(await missingPatroni()),
  async start(t, options) {
    const cluster = await startPatroni(t);
    const urls = Array<string>(4).fill(cluster.urls.proxy);
    const place = await onPostgres(t, options, urls, { runtimes });
    const [a, ...others] = place.servers;
    assert.ok(a);

    /** Breaks the leader, waits for the next one, and repairs the former. */
    const failOver = (
      { breakIt, mend, meanwhile }: {
        /** By its end nobody else may have been promoted. */
        readonly breakIt: (leader: Member) => Promise<void>;
        readonly mend?: (former: Member) => void | Promise<void>;
        /** Begins with the promotion. */
        readonly meanwhile?: Fault;
      },
    ): Fault =>
    async (recorder) => {
      const former = await cluster.leader();
      await breakIt(former);
      await recorder.failover(async () => {
        await cluster.untilPromoted(former);
        const promoted = performance.now();
        const also = meanwhile?.(recorder);
        // A server that is killed meanwhile takes longer.
        const recovered = others.map(async ({ name }) => {
          await recorder.until((each) => isAdded(each) && each.server === name);
          const ms = Math.round(performance.now() - promoted);
          assert.ok(ms < RECOVERY, `${name} added no pet for ${ms} ms`);
          return `${name} ${ms}`;
        });
        const times = await Promise.all(recovered);
        console.log(`First pet after the promotion: ${times} ms`);
        await Promise.all([also, pause(MOVING)]);
        await recorder.untilEachAdds();
      });
      await recorder.more(20);
      await mend?.(former);
      await cluster.untilWhole();
    };

    return {
      ...place,
      longest: longest(3),
      faults: {
        [AGENT_HUNG]: failOver({
          async breakIt(leader) {
            await leader.pause("agent");
            // Its lock lasts longer, even if etcd was slow to renew it.
            await pause(1000 * (TTL - 12));
          },
          mend: (former) => former.resume(),
          meanwhile: kill(a),
        }),
        "the leader killed": failOver({
          breakIt: (leader) => leader.kill(),
          mend: (former) => former.start(),
        }),
        "the leader frozen and thawed": failOver({
          breakIt: (leader) => leader.pause("all"),
          mend: (former) => former.resume(),
        }),
        "a switchover": failOver({
          // It waits for the new leader.
          breakIt: async () => void cluster.switchOver(),
        }),
        "a standby lost": async (recorder) => {
          const standby = await cluster.standby();
          await standby.kill();
          await recorder.more(20);
          await standby.start();
          await cluster.untilWhole();
        },
        "etcd stopped": async (recorder) => {
          await cluster.etcd.kill();
          await pause(1000 * TTL + 5000);
          await recorder.more(20);
          await cluster.etcd.start();
          await cluster.untilWhole();
        },
      },
    };
  },
};

/** Patroni, its agent, and the PostgreSQL that it manages. */
interface Member {
  readonly name: string;
  readonly host: string;
  /** The address of its agent, and all that that has written. */
  readonly api: string;
  readonly log: () => string;
  /** Fulfilled once it runs, whatever its state. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Freezes PostgreSQL and its agent, or the agent alone. */
  pause(what: "all" | "agent"): Promise<void>;
  resume(): void;
}

/**
 * Starts three nodes with etcd and HAProxy, as the files in `docs/examples/patroni/` set them up, in 15 to 30 s.
 * They end with this process, if not before.
 */
async function startPatroni(t: TestContext) {
  const binaries = await requireBinaries();
  const { give } = serverAccount();
  const { path: folder, remove } = guardedFolder();
  atEnd(t, remove);

  /** Makes a program with a folder of its own, where `words` is its command line. */
  function own(
    name: string,
    words: (folder: string) => readonly string[],
  ): Daemon {
    const path = join(folder, name);
    mkdirSync(path);
    give(path);
    return daemon(path, words(path));
  }

  function node(name: string, host: string, api: string, file: string): Member {
    const agent = own(name, (folder) => {
      const path = join(folder, "patroni.yml");
      writeFileSync(path, file.replaceAll("OWN", folder));
      give(path);
      return [find("patroni"), path];
    });
    const pidFile = join(folder, name, "data/postmaster.pid");
    const server = () => parseInt(readFileSync(pidFile, "utf8"));
    let paused: readonly number[] = [];
    return {
      ...{ name, host, api, start: agent.start, log: agent.log },
      async kill() {
        await agent.kill();
        await killTree(server());
      },
      async pause(what) {
        signal(agent.pid, "SIGSTOP");
        paused = [
          agent.pid,
          ...what === "all" ? await pauseTree(server()) : [],
        ];
      },
      resume() {
        paused.forEach((pid) => signal(pid, "SIGCONT"));
        paused = [];
      },
    };
  }

  const addresses = await Promise.all(
    Array.from({ length: 9 }, async () => `127.0.0.1:${await freePort()}`),
  );
  const [client = "", peer = "", proxyHost = "", ...hosts] = addresses;
  const apis = hosts.splice(3);

  const etcd = own("etcd", (folder) => [
    ...[find("etcd"), `--data-dir=${folder}/data`],
    `--listen-client-urls=http://${client}`,
    `--advertise-client-urls=http://${client}`,
    `--listen-peer-urls=http://${peer}`,
  ]);
  const proxy = own("proxy", (folder) => {
    const path = join(folder, "haproxy.cfg");
    const checked = hosts.map((host, i) => {
      const port = apis[i]?.split(":")[1];
      return [`10.0.0.${i + 1}:5432`, `${host} port ${port}`] as const;
    });
    const changes = [["127.0.0.1:5000", proxyHost] as const, ...checked];
    writeFileSync(path, example("haproxy.cfg", changes));
    return [find("haproxy"), "-db", "-f", path];
  });
  const members = hosts.map((host, i) => {
    const [name, api = ""] = [`node${i + 1}`, apis[i]];
    const file = example("patroni.yml", [
      [/name: node1/g, `name: ${name}`],
      [/10.0.0.1:5432/g, host],
      [/10.0.0.1:8008/g, api],
      [/10.0.0.0.24/g, "127.0.0.1/32"],
      [/hosts: .*/g, `hosts: ${client}`],
      [/bin_dir: .*/g, `bin_dir: ${binaries}`],
      [/data_dir: .*/g, "data_dir: OWN/data"],
      [/pgpass: .*/g, "pgpass: OWN/pgpass"],
      // Nothing here survives this machine, which a hung agent must not restart.
      [/- data-checksums/g, "- data-checksums\n    - no-sync"],
      [/(?=authentication:)/g, "basebackup:\n    - no-sync\n  "],
      [/mode: required/g, 'mode: "off"'],
      [/(?=max_connections:)/g, SETTINGS],
      [/ttl: .*/g, `ttl: ${TTL}`],
      [/loop_wait: .*/g, "loop_wait: 2"],
      [/retry_timeout: .*/g, "retry_timeout: 5"],
    ]);
    return node(name, host, api, file);
  });

  const leader = () => findMember(members, "/primary");
  const [first, ...rest] = members;
  for (const each of [etcd, first, proxy]) await each?.start();
  atEnd(t, proxy.kill); // it ignores SIGQUIT
  const primary = await leader();
  // Agents that wait for the first one look for it every 10 s.
  for (const each of rest) await each.start();
  await untilWhole(members);
  const superuser = `postgres://postgres:CHANGE-ME-1@${primary.host}/postgres`;
  await runSql(superuser, "create role petstore login password 'secret'");
  await runSql(superuser, "create database petstore owner petstore");

  const url = (host: string) => `postgres://petstore:secret@${host}/petstore`;
  return {
    /** The URL of a database for a role that is no superuser: at all nodes, or at HAProxy. */
    urls: { nodes: url(hosts.join()), proxy: url(proxyHost) },
    etcd,
    leader,
    standby: () => findMember(members, "/replica"),
    /** Waits until another node than this accepts writes. */
    async untilPromoted(former: Member) {
      const others = members.filter((each) => each !== former);
      await findMember(others, "/primary");
    },
    /** Waits until there are a leader, and two standbys of which each commit needs one. */
    untilWhole: () => untilWhole(members),
    async switchOver() {
      const { api, name } = await leader();
      const body = JSON.stringify({ leader: name });
      const init = { method: "POST", body };
      const response = await fetch(`http://${api}/switchover`, init);
      const text = await response.text();
      if (!response.ok) throw new Error(text);
    },
  };
}

/** Reads a file of the examples, and changes each text in it that has to be there. */
function example(
  file: string,
  changes: readonly (readonly [from: string | RegExp, to: string])[],
): string {
  return changes.reduce((text, [from, to]) => {
    if (text.search(from) < 0) throw new Error(`${file} has no ${from}`);
    return text.replaceAll(from, to);
  }, readText(`docs/examples/patroni/${file}`));
}

/** Asks an agent; `undefined` if it does not answer 200, or not at all. */
async function getJson({ api }: Member, path: string): Promise<unknown> {
  try {
    const response = await fetch(`http://${api}${path}`, {
      signal: AbortSignal.timeout(2000),
    });
    const json = await response.json();
    return response.ok ? json : undefined;
  } catch {
    return undefined; // it is stopped, or not there
  }
}

/** Waits until a node answers 200, and returns it. */
async function findMember(
  members: readonly Member[],
  path: string,
): Promise<Member> {
  let found: Member | undefined;
  await until(`a node answers to ${path}`, async () => {
    await pause(50);
    const answers = await Promise.all(
      members.map((each) => getJson(each, path)),
    );
    found = members.find((_, i) => answers[i] !== undefined);
    return found !== undefined;
  }, 90_000);
  if (found === undefined) throw new Error("no node answers");
  return found;
}

async function untilWhole(members: readonly Member[]): Promise<void> {
  let seen: readonly string[] = [];
  try {
    await until("the cluster is whole", async () => {
      await pause(200);
      const answers = members.map((each) => getJson(each, "/cluster"));
      seen = (await Promise.all(answers)).map(statesOf);
      return seen.every((states) => states === WHOLE);
    }, 90_000);
  } catch (cause) {
    const logs = members.map(({ name, log }) =>
      `${name}: ${log().slice(-3000)}`
    );
    throw new Error([...seen, ...logs].join("\n"), { cause });
  }
}

const WHOLE =
  "leader running,quorum_standby streaming,quorum_standby streaming";

/** What an agent says of all. */
function statesOf(answer: unknown): string {
  const { members = [] } = (answer ?? {}) as {
    readonly members?: readonly {
      readonly role: string;
      readonly state: string;
    }[];
  };
  return members.map(({ role, state }) => `${role} ${state}`).sort().join();
}

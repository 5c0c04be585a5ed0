/**
 * Pet stores on three nodes of Patroni, behind HAProxy, as the files in `docs/examples/patroni/` set
 * them up.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
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
import type { Fault } from "./faults.ts";
import { runHistory } from "./histories.ts";
import { isAdded } from "./recorder.ts";
import { longest, onPostgres, type Topology } from "./topologies.ts";

/** Shorter than in the example, so that the test is. */
const TIMES = { ttl: 20, loop_wait: 2, retry_timeout: 5 };
const PROGRAMS = ["etcd --version", "haproxy -v", "patroni --version"];
const WHOLE =
  "leader running,quorum_standby streaming,quorum_standby streaming";

const runtimes = findRuntimes();
const binaries = await findBinaries();
const PATRONI: Topology = {
  name: "A server on each runtime, behind HAProxy, on 3 nodes of Patroni",
  skip: runtimes.find(({ missing }) => missing)?.missing ??
    skipping(binaries.missing || await missingProgram()),
  async start(t, options) {
    const { url, leader, untilWhole, switchOver } = await startPatroni(t);
    const urls = runtimes.map(() => url);
    /** Breaks the leader, and repairs it once each server adds pets again. */
    const failOver =
      (what: string, breakIt: (node: Node) => Promise<Repair>): Fault =>
      async (recorder) => {
        const since = performance.now();
        let repair: Repair = () => {};
        await recorder.failover(async () => {
          repair = await breakIt(await leader());
          await recorder.untilEachAdds();
        });
        await recorder.more(20);
        const added = recorder.history.filter(isAdded).map(({ end }) => end)
          .filter((end) => end > since).sort((a, b) => a - b);
        const gaps = added.map((end, i) => end - (added[i - 1] ?? since));
        console.log(`${what}: no create for ${Math.max(...gaps).toFixed()} ms`);
        await repair();
        await untilWhole();
      };
    /** What is broken, until a node is promoted or, the first time, PostgreSQL has restarted. */
    const faults: Record<string, (leader: Node) => Promise<Repair>> = {
      "PostgreSQL killed": async ({ postmaster }) => {
        await killTree(postmaster());
        return () => {};
      },
      "PostgreSQL frozen": async (former) => {
        const paused = await pauseTree(former.postmaster());
        await leader(former);
        return () => paused.forEach((pid) => signal(pid, "SIGCONT"));
      },
      "Patroni killed": async (former) => {
        signal(former.agent.pid, "SIGKILL");
        await leader(former);
        return former.agent.start;
      },
      "Patroni frozen": async (former) => {
        signal(former.agent.pid, "SIGSTOP");
        await leader(former);
        return () => signal(former.agent.pid, "SIGCONT");
      },
      "a switchover": async (former) => {
        await switchOver(former);
        await leader(former);
        return () => {};
      },
    };
    return {
      ...await onPostgres(t, options, urls, { runtimes }),
      longest: longest(1),
      faults: Object.fromEntries(
        Object.entries(faults)
          .map(([what, breakIt]) => [what, failOver(what, breakIt)]),
      ),
    };
  },
};

test(
  `${PATRONI.name} keep every promise amid faults`,
  { skip: PATRONI.skip, timeout: 600_000 },
  (t) => runHistory(t, PATRONI),
);

/** `false`, or which program the servers' account cannot run. */
async function missingProgram(): Promise<string | false> {
  for (const command of PROGRAMS) {
    const [program = "", option = ""] = command.split(" ");
    const words = [...serverAccount().prefix, find(program), option];
    if ((await run(words)).code !== 0) {
      return `${program} cannot be run: Patroni needs etcd-server and haproxy of Debian, and patroni[etcd3] and psycopg[binary] of PyPI`;
    }
  }
  return false;
}

function find(program: string): string {
  return findProgram(program) ?? program;
}

type Repair = () => void | Promise<void>;

/** Patroni, its agent, and the PostgreSQL that it manages. */
interface Node {
  readonly name: string;
  /** The address of its agent. */
  readonly api: string;
  readonly agent: Daemon;
  /** Returns the id of PostgreSQL's first process. */
  readonly postmaster: () => number;
}

/** Starts etcd, HAProxy and three nodes in 15 to 30 s. They end with this process at the latest. */
async function startPatroni(t: TestContext) {
  const bin = await requireBinaries();
  const { path: folder, remove } = guardedFolder();
  atEnd(t, remove);
  const ports = await Promise.all(Array.from({ length: 9 }, freePort));
  const [client, peer, proxyPort, ...rest] = ports;
  const hosts = rest.slice(0, 3).map((port) => `127.0.0.1:${port}`);
  const apis = rest.slice(3).map((port) => `127.0.0.1:${port}`);

  /** Makes a program with its own folder. `words` is its command line, with a file if it has one. */
  function own(name: string, words: readonly string[], file?: string) {
    const path = join(folder, name);
    const config = join(path, "config");
    mkdirSync(path);
    serverAccount().give(path);
    if (file !== undefined) {
      writeFileSync(config, file.replaceAll("OWN", path));
      serverAccount().give(config);
    }
    const [program = "", ...args] = words;
    const command = [find(program), ...args, ...file ? [config] : []];
    return daemon(path, command);
  }

  function node(name: string, host = "", api = ""): Node {
    const file = example("patroni.yml", {
      "name: node1": `name: ${name}`,
      "10\\.0\\.0\\.1:5432": host,
      "10\\.0\\.0\\.1:8008": api,
      "10\\.0\\.0\\.0/24": "127.0.0.1/32",
      "hosts: .*": `hosts: 127.0.0.1:${client}`,
      "bin_dir: .*": `bin_dir: ${bin}`,
      "data_dir: .*": "data_dir: OWN/data",
      "pgpass: .*": "pgpass: OWN/pgpass",
      // A frozen agent must not restart this machine, and nothing here survives it.
      "mode: required": 'mode: "off"',
      "- data-checksums": "- data-checksums\n    - no-sync",
      "(?=authentication:)": "basebackup:\n    - no-sync\n  ",
      // So that a server that is killed leaves nothing elsewhere.
      "(?=max_connections:)": 'unix_socket_directories: ""\n        ' +
        "dynamic_shared_memory_type: mmap\n        ",
      ...Object.fromEntries(
        Object.entries(TIMES).map(([key, s]) => [`${key}: .*`, `${key}: ${s}`]),
      ),
    });
    const pidFile = join(folder, name, "data/postmaster.pid");
    const postmaster = () => parseInt(readFileSync(pidFile, "utf8"));
    return { name, api, agent: own(name, ["patroni"], file), postmaster };
  }

  const etcd = own("etcd", [
    ...["etcd", `--data-dir=${folder}/etcd/data`],
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
  ]);
  const checks = hosts.map((host, i) => [
    `10\\.0\\.0\\.${i + 1}:5432`,
    `${host} port ${apis[i]?.split(":")[1]}`,
  ]);
  const proxy = own(
    "proxy",
    ["haproxy", "-db", "-f"],
    example("haproxy.cfg", {
      "127\\.0\\.0\\.1:5000": `127.0.0.1:${proxyPort}`,
      ...Object.fromEntries(checks),
    }),
  );
  const nodes = hosts.map((host, i) => node(`node${i + 1}`, host, apis[i]));

  /** Waits until a node is the leader, other than the former one, and returns it. */
  async function leader(former?: Node): Promise<Node> {
    let found: Node | undefined;
    await until("a node is the leader", async () => {
      for (const each of nodes) {
        const isLeader = await ask(each, "/primary") !== undefined;
        if (isLeader && each !== former) found = each;
      }
      return found !== undefined;
    }, 90_000);
    return found ?? Promise.reject(new Error("no node is the leader"));
  }

  /** Waits until there are a leader, and two standbys of which each commit needs one. */
  const untilWhole = () =>
    until("the cluster is whole", async () => {
      const answers = await Promise.all(
        nodes.map((each) => ask(each, "/cluster")),
      );
      return answers.every((answer) =>
        answer?.members?.map(({ role, state }) => `${role} ${state}`).sort()
          .join() === WHOLE
      );
    }, 120_000);

  await etcd.start();
  await nodes[0]?.agent.start();
  await proxy.start();
  atEnd(t, proxy.kill); // it ignores SIGQUIT
  const first = await leader();
  // Agents that wait for the first one would look for it every 10 s.
  for (const { agent } of nodes.slice(1)) await agent.start();
  await untilWhole();
  const host = hosts[nodes.indexOf(first)];
  const superuser = `postgres://postgres:CHANGE-ME-1@${host}/postgres`;
  await runSql(superuser, "create role petstore login password 'secret'");
  await runSql(superuser, "create database petstore owner petstore");
  return {
    ...{ leader, untilWhole },
    url: `postgres://petstore:secret@127.0.0.1:${proxyPort}/petstore`,
    async switchOver({ name, api }: Node): Promise<void> {
      const body = JSON.stringify({ leader: name });
      const init = { method: "POST", body };
      const response = await fetch(`http://${api}/switchover`, init);
      const text = await response.text();
      if (!response.ok) throw new Error(text);
    },
  };
}

/** Reads a file of the examples, and changes what it must contain. */
function example(
  file: string,
  changes: Readonly<Record<string, string>>,
): string {
  return Object.entries(changes).reduce((text, [from, to]) => {
    if (text.search(from) < 0) throw new Error(`${file} has no ${from}`);
    return text.replaceAll(RegExp(from, "g"), to);
  }, readText(`docs/examples/patroni/${file}`));
}

interface Cluster {
  readonly members?: readonly {
    readonly role: string;
    readonly state: string;
  }[];
}

/** Asks an agent; `undefined` if it does not answer 200, or not at all. */
async function ask(
  { api }: { readonly api: string },
  path: string,
): Promise<Cluster | undefined> {
  try {
    await pause(50);
    const signal = AbortSignal.timeout(2000);
    const response = await fetch(`http://${api}${path}`, { signal });
    const json: Cluster = await response.json();
    return response.ok ? json : undefined;
  } catch {
    return undefined; // it is stopped, or frozen
  }
}

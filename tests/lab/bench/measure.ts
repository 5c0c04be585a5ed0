/**
 * Measures one setting: servers are started on equal databases, compared, warmed up, measured and
 * ended.
 */

import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/process.ts";
import { findRuntime, type FoundRuntime } from "../../support/runtime.ts";
import { ask } from "./answer.ts";
import { type Case, FIRST_PAGE, KEY, requestText } from "./cases.ts";
import { openDatabases } from "./databases.ts";
import { inTurns } from "./figures.ts";
import { type Count, load } from "./load/load.ts";
import { type Process, startProcess } from "./process.ts";
import type { Contestant, Load, Setting } from "./settings.ts";

/** What a contestant did in its turn. */
export interface Turn extends Count {
  /** Processor time of the servers for one request, all their threads, in µs. */
  readonly cpu: number;
  /** The resident memory of the servers after the turn, in bytes. */
  readonly memory: number;
}

/** The figures of a contestant, round by round. */
export type Rounds<Figure> = ReadonlyMap<Contestant, readonly Figure[]>;

/** A kind of request under a load, and what each contestant did. */
export interface Cell {
  readonly work: Case;
  readonly load: Load;
  /** Requests a second, if the load is paced. */
  readonly rate: number | undefined;
  readonly turns: Rounds<Turn>;
}

/** What was measured in a setting. */
export interface Measured extends Setting {
  /** `PostgreSQL 17.2`, or only `SQLite`; `Deno 2.9.6`. */
  readonly databaseTitle: string;
  readonly runtimeTitle: string;
  readonly contestants: readonly Contestant[];
  readonly cells: readonly Cell[];
  /** How long it took from before a process is started to its first page, in ms. */
  readonly starts: Rounds<number>;
  /** The resident memory of each before the load, in bytes. */
  readonly rest: ReadonlyMap<Contestant, number>;
}

/** How a setting is measured. */
export interface MeasureOptions {
  /** The last one is the peer; all must answer as the first one does. */
  readonly contestants: readonly Contestant[];
  readonly cases: readonly Case[];
  readonly loads: readonly Load[];
  /** How many pets there are before. */
  readonly pets: number;
  readonly rounds: number;
  /** How long a turn is. */
  readonly seconds: number;
  /** Nothing is measured: servers only have to run and to answer alike. */
  readonly quick: boolean;
}

/** A contestant that listens. */
export interface Server {
  readonly contestant: Contestant;
  readonly port: number;
  readonly process: Process;
}

/** Measures a setting. */
export async function measure(
  setting: Setting,
  options: MeasureOptions,
): Promise<Measured> {
  const { contestants, pets, cases, rounds, quick } = options;
  const runtime = findRuntime(setting.runtime);
  const databases = await openDatabases(setting.database);
  const urls = new Map<Contestant, string>();
  const servers: Server[] = [];
  const start = (one: Contestant) =>
    startServer(runtime, one, urls.get(one) ?? "");
  try {
    for (const one of contestants) {
      const url = await databases.create();
      urls.set(one, url);
      // The service makes its tables when it starts, each version its own. Its compile cache is
      // then there too: a server that writes one may take more memory.
      if (one.tables === "ours") {
        await (await start(one)).process.stop("SIGTERM");
      }
      await databases.fill(url, one.tables, pets);
      const { servers: count = 1 } = one;
      for (let i = 0; i < count; i++) servers.push(await start(one));
    }
    if (!quick) await delay(1000); // ours reads the files of its page once it listens
    const fleets = Map.groupBy(servers, ({ contestant }) => contestant);
    const rest = new Map<Contestant, number>();
    for (const [one, fleet] of fleets) {
      rest.set(one, (await usage(fleet)).memory);
    }
    // Those of one fleet share a database, so that their next ids differ.
    const first = [...fleets.values()].flatMap((fleet) => fleet.slice(0, 1));
    for (const work of cases) await compare(first, work, pets);

    const cells: Cell[] = [];
    for (const work of cases) {
      if (!quick) console.error(`  ${work.title}`);
      cells.push(...await measureCase(fleets, work, options));
    }

    for (const server of servers) await checkWork(server);
    const { name, version } = runtime;
    const titles = {
      databaseTitle: databases.title,
      runtimeTitle: `${name[0]?.toUpperCase()}${name.slice(1)} ${version}`,
    };
    for (const { process } of servers.splice(0)) await process.stop();
    const starts = contestants.map((one) =>
      [one, () => timed(start, one)] as const
    );
    // Once before: what a runtime keeps of compiled code is there afterwards.
    const turns = quick ? { rounds: 0, warmUp: 0 } : { rounds, warmUp: 1 };
    return {
      ...{ ...setting, ...titles, contestants, cells, rest },
      starts: await inTurns(new Map(starts), turns),
    };
  } finally {
    await Promise.all(servers.map(({ process }) => process.stop()));
    await databases.close();
  }
}

/** Measures a kind of request: in its turn, a fleet has all loads one after the other. */
async function measureCase(
  fleets: ReadonlyMap<Contestant, readonly Server[]>,
  work: Case,
  { loads, pets, rounds, seconds: length, quick }: MeasureOptions,
): Promise<readonly Cell[]> {
  const seconds = quick ? 0.02 : length;
  const closed = { work, pets, seconds, connections: 64 };
  // The peer is warm after it; the others are after a round.
  const peer = await turn([...fleets.values()].at(-1) ?? [], closed);
  const rate = Math.ceil(peer.requests / peer.seconds / 200) * 100;
  const turns = [...fleets].map(([contestant, fleet]) => {
    const all = async () => {
      const done: Turn[] = [];
      for (const { connections, isPaced } of loads) {
        const pace = isPaced ? { rate } : {};
        done.push(await turn(fleet, { ...closed, connections, ...pace }));
      }
      return done;
    };
    return [contestant, all] as const;
  });
  const warmUp = quick ? 0 : 1;
  const found = await inTurns(new Map(turns), { rounds, warmUp });
  return loads.map((load, index) => ({
    ...{ work, load, rate: load.isPaced ? rate : undefined },
    turns: new Map(
      [...found].map(([one, done]) =>
        [one, done.flatMap((turns) => turns[index] ?? [])] as const
      ),
    ),
  }));
}

/** Starts a server, and waits for its first page. */
export async function startServer(
  runtime: FoundRuntime,
  contestant: Contestant,
  DATABASE_URL: string,
): Promise<Server> {
  const { file, meter, args, env } = contestant;
  const port = await freePort();
  const process = startProcess(
    runtime,
    meter,
    [fileURLToPath(file), ...args],
    {
      ...{ NODE_ENV: "production", PETSTORE_API_KEYS: KEY },
      ...{ PORT: `${port}`, DATABASE_URL, ...env },
    },
  );
  await Promise.race([process.fault, ask(port, FIRST_PAGE)]);
  return { contestant, port, process };
}

async function timed(
  start: (one: Contestant) => Promise<Server>,
  one: Contestant,
): Promise<number> {
  const before = performance.now();
  const { process } = await start(one);
  const ms = performance.now() - before;
  // Not SIGKILL: Bun and Node may write their compile cache when the process ends by itself.
  await process.stop("SIGTERM");
  return ms;
}

/** Throws when an answer differs from the first server's. */
async function compare(
  servers: readonly Server[],
  work: Case,
  pets: number,
): Promise<void> {
  for (const id of [1, Math.ceil(pets / 2), pets]) {
    const answers: string[] = [];
    for (const { port } of servers) answers.push(await ask(port, work, id));
    for (const [index, answer] of answers.entries()) {
      if (answer === answers[0]) continue;
      const name = servers[index]?.contestant.name;
      throw new Error(`${name} answers\n${answer}\nand ours\n${answers[0]}`);
    }
  }
}

/** Throws when a server, after its turns, has logged nothing, or when it asks for no key. */
async function checkWork({ contestant, port, process }: Server): Promise<void> {
  const { name } = contestant;
  if (process.written() === 0) throw new Error(`${name} keeps no log`);
  const answer = await ask(port, { ...FIRST_PAGE, fields: {} });
  if (!answer.startsWith("401\n")) throw new Error(`${name} asks for no key`);
}

/** What a turn is. */
interface TurnOptions {
  readonly work: Case;
  readonly pets: number;
  readonly seconds: number;
  readonly connections: number;
  /** Requests a second. Default: as many as are answered. */
  readonly rate?: number;
}

/** Puts servers under load together; each gets as many of the connections. */
async function turn(
  servers: readonly Server[],
  { work, ...options }: TurnOptions,
): Promise<Turn> {
  const ports = servers.map(({ port }) => port);
  const statuses = [work.status];
  const request = requestText(work);
  const before = await usage(servers);
  const count = await load({ ...options, ports, request, statuses });
  const { cpu, memory } = await usage(servers);
  return { ...count, cpu: (cpu - before.cpu) / count.requests, memory };
}

/** The processor time of servers so far, in µs, and their resident memory, in bytes. */
async function usage(
  servers: readonly Server[],
): Promise<Pick<Turn, "cpu" | "memory">> {
  let [cpu, memory] = [0, 0];
  for (const { process } of servers) {
    const used = await process.ask("") as NodeJS.CpuUsage & { memory: number };
    cpu += used.user + used.system;
    memory += used.memory;
  }
  return { cpu, memory };
}

/**
 * One case on one runtime: servers are started, filled, compared, warmed up, measured and ended.
 */

import { fileURLToPath } from "node:url";
import { CONNECTIONS, type Count, load } from "../load/load.ts";
import { type Process, startProcess } from "../process.ts";
import { freePort, type Runtime } from "../runtimes.ts";
import { inTurns } from "../table.ts";
import { type Answer, ask, compare } from "./answer.ts";
import { type Case, fillingRequests, LIST20, requestText } from "./cases.ts";
import { type Contestant, ENVIRONMENT, ours } from "./contestants.ts";

/** What a contestant did in its turn. */
export interface Turn extends Count {
  /** Processor time of the server for one request, in µs: its own code's, and the kernel's for it. */
  readonly user: number;
  readonly system: number;
}

/** The turns of a contestant by its name, round by round. */
export type Rounds = (name: string) => readonly Turn[];

/** How a case is measured. */
export interface MeasureOptions {
  readonly runtime: Runtime;
  readonly work: Case;
  /** Ours is among them: the others must answer as it does. */
  readonly contestants: readonly Contestant[];
  readonly rounds: number;
  /** How long a turn is, and the one before the first round. */
  readonly seconds: number;
  readonly warmUp: number;
  /** How many pets there are before; the folder of their SQLite files, if not in memory. */
  readonly pets: number;
  readonly folder: string | undefined;
}

/** A contestant that listens. */
interface Server extends Contestant {
  readonly port: number;
  readonly process: Process;
}

type Environment = Readonly<Record<string, string>>;

const METERED = new URL("../contestants/metered.ts", import.meta.url);

/** Measures a case. */
export async function measure(options: MeasureOptions): Promise<Rounds> {
  const { runtime, work, contestants, folder } = options;
  const servers: Server[] = [];
  async function start(one: Contestant, env: Environment): Promise<Server> {
    const port = await freePort();
    const files = folder === undefined
      ? undefined
      : { SQLITE_FILE: `${folder}/${runtime.name} ${one.name}.db` };
    const args = [fileURLToPath(one.file), ...one.args?.(port) ?? []];
    const own = { PORT: `${port}`, ...files, ...one.env, ...env };
    const all = { ...ENVIRONMENT, ...own };
    const process = startProcess(runtime, METERED, args, all);
    const server = { ...one, port, process };
    servers.push(server);
    await Promise.race([process.fault, ask(port, LIST20)]);
    return server;
  }
  async function firstAnswer({ port, kind }: Server): Promise<Answer> {
    const requests = fillingRequests(options.pets, port);
    const task = { port, requests, status: 201, count: requests.length };
    if (kind !== "floor") await load({ ...task, connections: 1 });
    return await ask(port, work);
  }
  try {
    const first = contestants.find(({ name }) => name === ours.name) ?? ours;
    const expected = await firstAnswer(await start(first, {}));
    await Promise.all(
      contestants.filter((one) => one !== first).map((one) =>
        start(one, environment(one, work, expected))
      ),
    );
    for (const server of servers.slice(1)) {
      compare(server, await firstAnswer(server), expected);
    }
    const turns = (seconds: number) =>
      new Map(
        servers.map((one) =>
          [one.name, () => turn(one, work, seconds)] as const
        ),
      );
    await inTurns(turns(options.warmUp), { rounds: 1 });
    return await inTurns(turns(options.seconds), options);
  } finally {
    await Promise.all(servers.map(({ process }) => process.stop()));
  }
}

/** What a contestant is told: the floor its answer, and a framework our header fields to add. */
function environment(
  { kind }: Contestant,
  work: Case,
  { headers, ...answer }: Answer,
): Environment {
  if (kind === "floor") {
    const reads = work.body !== null;
    return { ANSWER: JSON.stringify({ ...answer, headers, reads }) };
  }
  if (kind !== "fields") return {};
  // What a framework has by itself, and the link of a listing, are its own work.
  const isList = answer.body.startsWith("[");
  const own = ["content-type", "location", isList ? "link" : ""];
  const all = Object.entries(headers).filter(([name]) => !own.includes(name));
  return { FIELDS: JSON.stringify(Object.fromEntries(all)) };
}

async function turn(
  { port, process }: Server,
  work: Case,
  seconds: number,
): Promise<Turn> {
  const requests = [requestText(work, port)];
  const task = { port, requests, status: work.status, seconds };
  const before = await process.ask("") as NodeJS.CpuUsage;
  const count = await load({ ...task, connections: CONNECTIONS });
  const after = await process.ask("") as NodeJS.CpuUsage;
  const user = (after.user - before.user) / count.requests;
  const system = (after.system - before.system) / count.requests;
  return { ...count, user, system };
}

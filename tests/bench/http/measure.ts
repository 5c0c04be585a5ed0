/**
 * One case on one runtime: the servers are started, filled, compared, warmed up, measured by turns, and
 * ended.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { CONNECTIONS, type Count, load } from "../load/load.ts";
import { type Process, startProcess } from "../process.ts";
import { freePort, type Runtime } from "../runtimes.ts";
import { inTurns } from "../table.ts";
import { type Answer, ask, compare } from "./answer.ts";
import { type Case, POST, requestText } from "./cases.ts";
import { type Contestant, ENVIRONMENT } from "./contestants.ts";
import { listening } from "./listening.ts";

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
  /** Ours, and the others, which must answer as it does. */
  readonly ours: Contestant;
  readonly others: readonly Contestant[];
  readonly rounds: number;
  /** How long a turn is. */
  readonly seconds: number;
  /** How long each contestant is under load before the first round; 0 is not at all. */
  readonly warmUp: number;
  /** How many pets there are before. */
  readonly pets: number;
}

/** A contestant that listens. */
interface Server extends Contestant {
  readonly port: number;
  readonly process: Process;
}

const METERED = new URL("../contestants/metered.ts", import.meta.url);
const NAMES = ["Rex", "Luna", "Zoë", "Bella", "Mr Whiskers", "Müsli", "Tom"];
const STATUSES = ["available", "pending", "sold"];

/** Measures a case. */
export async function measure(options: MeasureOptions): Promise<Rounds> {
  const { runtime, work, pets, rounds, warmUp, seconds } = options;
  const servers: Server[] = [];
  async function start(
    contestant: Contestant,
    env?: Readonly<Record<string, string>>,
  ): Promise<Server> {
    const server = await startServer(runtime, contestant, env);
    servers.push(server);
    return server;
  }
  try {
    const ours = await start(options.ours);
    await fill(ours.port, pets);
    const expected = await ask(ours.port, work);
    const others = await Promise.all(
      options.others.map((each) => start(each, settings(each, work, expected))),
    );
    for (const other of others) {
      if (other.kind !== "floor") await fill(other.port, pets);
      compare(other, await ask(other.port, work), expected);
    }
    const all = [ours, ...others];
    if (warmUp > 0) { for (const each of all) await turn(each, work, warmUp); }
    const turns = all.map((each) =>
      [each.name, () => turn(each, work, seconds)] as const
    );
    return await inTurns(new Map(turns), { rounds });
  } finally {
    await Promise.all(servers.map(({ process }) => process.stop()));
  }
}

async function startServer(
  runtime: Runtime,
  contestant: Contestant,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const args = contestant.args?.(port) ?? [];
  const process = startProcess(runtime, METERED, {
    args: [fileURLToPath(contestant.file), ...args],
    env: { ...ENVIRONMENT, PORT: String(port), ...contestant.env, ...env },
  });
  await Promise.race([process.fault, listening(port)]);
  return { ...contestant, port, process };
}

/** What a contestant is told: the floor its answer, and others our header fields to add. */
function settings(
  { kind }: Contestant,
  work: Case,
  { headers, ...answer }: Answer,
): Readonly<Record<string, string>> {
  if (kind === "floor") {
    const reads = work.body !== undefined;
    return { ANSWER: JSON.stringify({ ...answer, headers, reads }) };
  }
  if (kind !== "fields") return {};
  // What a framework has by itself, and the link of a listing, are its own work.
  const { "content-type": _type, location: _location, link, ...own } = headers;
  const isList = answer.body.startsWith("[") || link === undefined;
  return { FIELDS: JSON.stringify(isList ? own : { ...own, link }) };
}

/** Adds pets one after the other, so that they have the same ids everywhere. */
async function fill(port: number, count: number): Promise<void> {
  const requests = Array.from({ length: count }, (_, i) => {
    const name = `${NAMES[i % NAMES.length]} ${i + 1}`;
    const status = STATUSES[i % STATUSES.length];
    const body = JSON.stringify({ name, categoryId: 1 + i % 12, status });
    return requestText({ ...POST, body }, port);
  });
  await load({ port, connections: 1, requests, status: 201, count });
}

async function turn(
  { port, process }: Server,
  work: Case,
  seconds: number,
): Promise<Turn> {
  const requests = [requestText(work, port)];
  const task = { port, connections: CONNECTIONS, requests, seconds };
  const before = await process.ask("") as NodeJS.CpuUsage;
  const count = await load({ ...task, status: work.status });
  const after = await process.ask("") as NodeJS.CpuUsage;
  return {
    ...count,
    user: (after.user - before.user) / count.requests,
    system: (after.system - before.system) / count.requests,
  };
}

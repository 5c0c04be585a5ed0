/**
 * One case on one runtime: the servers are started, filled, compared, warmed up, measured by turns, and
 * ended.
 *
 * @module
 */

import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { CONNECTIONS, type Count, load } from "../load/load.ts";
import { type Process, startProcess } from "../process.ts";
import { freePort, type Runtime } from "../runtimes.ts";
import { inTurns } from "../turns.ts";
import { type Answer, ask, compare, compareFields } from "./answer.ts";
import { type Case, KEY, requestText } from "./cases.ts";
import {
  COMMON_ENVIRONMENT,
  type Contestant,
  OURS,
  ours,
} from "./contestants.ts";

/** What a contestant did in its turn. */
export interface Turn extends Count {
  /** Processor time of the server for one request, in µs: its own code's, and the kernel's for it. */
  readonly user: number;
  readonly system: number;
}

/** The turns of each contestant, round by round. */
export type Rounds = Readonly<Record<string, readonly Turn[]>>;

/** How a case is measured. */
export interface MeasureOptions {
  readonly runtime: Runtime;
  readonly work: Case;
  readonly contestants: readonly Contestant[];
  readonly rounds: number;
  /** How long a turn is. */
  readonly seconds: number;
  /** How long each contestant is under load before the first round; 0 is not at all. */
  readonly warmUp: number;
  /** How many pets there are before. */
  readonly pets: number;
}

/** A contestant that listens. */
interface Server {
  readonly port: number;
  readonly process: Process;
}

const METERED = new URL("../contestants/metered.ts", import.meta.url);
const NAMES = ["Rex", "Luna", "Zoë", "Bella", "Mr Whiskers", "Müsli", "Tom"];
const STATUSES = ["available", "pending", "sold"];

/** Measures a case. */
export async function measure(options: MeasureOptions): Promise<Rounds> {
  const { runtime, work, contestants, pets, rounds, warmUp } = options;
  const servers = new Map<string, Server>();
  async function start(
    contestant: Contestant,
    env?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const server = await startServer(runtime, contestant, env);
    servers.set(contestant.name, server);
  }
  async function firstAnswer({ name, kind }: Contestant): Promise<Answer> {
    const { port = 0 } = servers.get(name) ?? {};
    if (kind !== "floor") await fill(port, pets);
    return await ask(port, work);
  }
  try {
    await start(ours);
    const expected = await firstAnswer(ours);
    const others = contestants.filter(({ name }) => name !== OURS);
    await Promise.all(
      others.map((each) => start(each, environment(each, work, expected))),
    );
    for (const contestant of others) {
      const answer = await firstAnswer(contestant);
      compare(contestant.name, answer, expected);
      if (contestant.kind === "framework") continue;
      compareFields(contestant.name, answer, expected);
    }
    const turns = contestants.map(({ name }) => {
      const server = servers.get(name);
      if (server === undefined) throw new Error(`${name} does not run`);
      const turn = (seconds: number) => takeTurn(server, work, seconds);
      return [name, turn] as const;
    });
    if (warmUp > 0) { for (const [, turn] of turns) await turn(warmUp); }
    const timed = turns.map(([name, turn]) =>
      [name, () => turn(options.seconds)] as const
    );
    return await inTurns(Object.fromEntries(timed), rounds);
  } finally {
    await Promise.all(
      [...servers.values()].map(({ process }) => process.stop()),
    );
  }
}

async function startServer(
  runtime: Runtime,
  { file, args, env: own }: Contestant,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const process = startProcess(runtime, METERED, {
    args: [fileURLToPath(file), ...args?.(port) ?? []],
    env: { ...COMMON_ENVIRONMENT, PORT: String(port), ...own, ...env },
  });
  await Promise.race([process.fault, untilListening(port)]);
  return { port, process };
}

async function untilListening(port: number): Promise<void> {
  const end = performance.now() + 20_000;
  while (!await isListening(port)) {
    if (performance.now() > end) throw new Error(`Nothing listens on ${port}`);
    await delay(10);
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => resolve(false)).on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** What a contestant is told: the floor its answer, and who adds our header fields which ones. */
function environment(
  { kind }: Contestant,
  { body }: Case,
  { headers, ...answer }: Answer,
): Readonly<Record<string, string>> {
  if (kind === "floor") {
    const task = { ...answer, headers, reads: body !== undefined };
    return { ANSWER: JSON.stringify(task) };
  }
  if (kind !== "fields") return {};
  // What a framework has by itself, and the link of a listing, are its own work.
  const isList = answer.body.startsWith("[");
  const own = ["content-type", "location", isList ? "link" : ""];
  const fields = Object.entries(headers)
    .filter(([name]) => !own.includes(name));
  return { FIELDS: JSON.stringify(Object.fromEntries(fields)) };
}

/** Adds pets one after the other, so that they have the same ids everywhere. */
async function fill(port: number, count: number): Promise<void> {
  const requests = Array.from({ length: count }, (_, i) => {
    const body = JSON.stringify({
      name: `${NAMES[i % NAMES.length]} ${i + 1}`,
      categoryId: 1 + i % 12,
      status: STATUSES[i % STATUSES.length],
    });
    return requestText({ target: "/v1/pets", key: KEY, body }, port);
  });
  await load({ port, connections: 1, requests, status: 201, count });
}

async function takeTurn(
  { port, process }: Server,
  work: Case,
  seconds: number,
): Promise<Turn> {
  const requests = [requestText(work, port)];
  const { status } = work;
  const before = await process.ask("") as NodeJS.CpuUsage;
  const count = await load(
    { port, connections: CONNECTIONS, requests, status, seconds },
  );
  const after = await process.ask("") as NodeJS.CpuUsage;
  return {
    ...count,
    user: (after.user - before.user) / count.requests,
    system: (after.system - before.system) / count.requests,
  };
}

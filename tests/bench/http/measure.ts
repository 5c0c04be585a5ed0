/**
 * One case on one runtime: the servers are started, seeded, compared, warmed up and measured by turns,
 * and ended.
 *
 * @module
 */

import { type Answer, ask, compare, compareFields } from "./answer.ts";
import type { Case } from "./cases.ts";
import { type Contestant, OURS, ours } from "./contestants.ts";
import { checkCount, type Count, type Load } from "./load.ts";
import type { Runtime } from "./runtimes.ts";
import { seed } from "./seed.ts";
import { type Server, startServer } from "./server.ts";

/** What a contestant did in its turn. */
export interface Turn extends Count {
  /** Processor time of the server, in µs a request. */
  readonly processorTime: number;
}

/** The turns of one round, by the names of the contestants. */
export type Round = Readonly<Record<string, Turn>>;

/** How a case is measured. */
export interface MeasureOptions {
  readonly runtime: Runtime;
  readonly work: Case;
  readonly contestants: readonly Contestant[];
  readonly load: Load;
  readonly rounds: number;
  /** How long a turn is, in seconds. */
  readonly seconds: number;
  /** How long each contestant is under load before the first round, in seconds; 0 is not at all. */
  readonly warmUp: number;
  /** How many animals there are before. */
  readonly animals: number;
}

/** Measures a case. */
export async function measure(options: MeasureOptions): Promise<Round[]> {
  const servers: Server[] = [];
  try {
    await startAll(servers, options);
    if (options.warmUp > 0) {
      const warmUp = { ...options, seconds: options.warmUp };
      for (const server of servers) await takeTurn(server, warmUp);
    }
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round++) {
      rounds.push(await takeTurns(rotate(servers, round), options));
    }
    return rounds;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Starts the contestants. Ours comes first: it is what the others must answer. */
async function startAll(
  servers: Server[],
  { contestants, runtime, work, animals }: MeasureOptions,
): Promise<void> {
  const first = await startServer(ours, runtime);
  const isMeasured = contestants.some(({ name }) => name === OURS);
  try {
    await seed(first.port, animals);
  } catch (error) {
    await first.stop();
    throw error;
  }
  const expected = await ask(first.origin, work);
  if (isMeasured) servers.push(first);
  else await first.stop();
  for (const contestant of contestants) {
    if (contestant.name === OURS) continue;
    const server = await startServer(
      contestant,
      runtime,
      {
        ...ceilingEnvironment(contestant, expected, work),
        ...fieldsEnvironment(contestant, expected),
      },
    );
    servers.push(server);
    if (contestant.ceiling === undefined) await seed(server.port, animals);
    const answer = await ask(server.origin, work);
    if (contestant.ceiling !== "content-type") {
      compare(contestant.name, answer, expected);
    }
    if (contestant.ceiling?.startsWith("ours") || contestant.addsOurFields) {
      compareFields(contestant.name, answer, expected);
    }
  }
}

/** What a ceiling is told: the answer that it always gives. */
function ceilingEnvironment(
  { ceiling }: Contestant,
  { status, headers, body }: Answer,
  { method }: Case,
): Readonly<Record<string, string>> {
  if (ceiling === undefined) return {};
  const all = { status, headers, body };
  const least = { ...all, headers: { "content-type": "application/json" } };
  return {
    ANSWER: JSON.stringify(ceiling === "content-type" ? least : all),
    READ_BODY: method === "POST" ? "yes" : "no",
    READ_HEAD: ceiling === "ours, reading" ? "yes" : "no",
  };
}

/** What a framework is told: the fields to add to every answer. */
function fieldsEnvironment(
  { addsOurFields }: Contestant,
  { headers, body }: Answer,
): Readonly<Record<string, string>> {
  if (!addsOurFields) return {};
  // What a framework has by itself, and the link of a listing, are its own work.
  const own = ["content-type", "location", body.startsWith("[") ? "link" : ""];
  const fields = Object.entries(headers).filter(([name]) =>
    !own.includes(name)
  );
  return { FIELDS: JSON.stringify(Object.fromEntries(fields)) };
}

async function takeTurns(
  servers: readonly Server[],
  options: MeasureOptions,
): Promise<Round> {
  const turns: Record<string, Turn> = {};
  for (const server of servers) {
    turns[server.contestant.name] = await takeTurn(server, options);
  }
  return turns;
}

async function takeTurn(
  server: Server,
  { work, load, seconds }: MeasureOptions,
): Promise<Turn> {
  const before = await server.processorTime();
  const count = await load(server.origin, work, seconds);
  const after = await server.processorTime();
  checkCount(server.contestant.name, work, count);
  return { ...count, processorTime: (after - before) / count.requests };
}

/** The same servers from another one on, so that none is always first. */
function rotate<T>(servers: readonly T[], by: number): T[] {
  const start = by % servers.length;
  return [...servers.slice(start), ...servers.slice(0, start)];
}

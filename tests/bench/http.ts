/**
 * The part `http` of the bench: servers in processes of their own, over loopback; ours beside the least
 * that a server with its answers must do, and beside the same service on frameworks.
 */

import { type Case, CASES, DURABLE } from "./http/cases.ts";
import type { Contestant } from "./http/contestants.ts";
import { chooseContestants, floor, ours } from "./http/contestants.ts";
import { measure, type Rounds, type Turn } from "./http/measure.ts";
import { type BenchOptions, choose } from "./options.ts";
import { temporaryFolder } from "./process.ts";
import { findRuntime } from "./runtimes.ts";
import { judged, median, ratios, spread, type Table } from "./table.ts";

/** A case that was measured. */
interface Measured {
  readonly work: Case;
  readonly contestants: readonly Contestant[];
  readonly rounds: Rounds;
}

/** Measures every contestant in every case on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const { rounds, seconds, quick } = options;
  const cases = choose(CASES.map(({ name }) => name), options.cases);
  const files = temporaryFolder();
  for (const runtime of options.runtimes.map(findRuntime)) {
    const all: Measured[] = [];
    for (const work of CASES.filter(({ name }) => cases.includes(name))) {
      const title = `${runtime.title}, ${work.name}`;
      console.error(title);
      const folder = work.name === DURABLE ? files : undefined;
      const contestants = chooseContestants(work.name, options)
        .filter(({ runtimes }) => runtimes.includes(runtime.name));
      const found = await measure({
        ...{ runtime, work, contestants, folder, rounds, seconds },
        warmUp: quick ? seconds : Math.min(2, 4 * seconds),
        pets: quick || folder !== undefined ? 400 : 10_000,
      });
      const measured = { work, contestants, rounds: found };
      if (folder === undefined) all.push(measured);
      const how = `${rounds} rounds of ${seconds} s`;
      if (!quick) yield caseTable(`${title} (${how})`, measured);
    }
    if (!quick) yield runtimeTable(runtime.title, all);
  }
  if (quick) console.error("All contestants run and answer alike");
}

/** Processor time for one request: what decides. */
const cpu = ({ user, system }: Turn): number => user + system;
const rate = ({ requests, seconds }: Turn): number => requests / seconds;

/** The table of one case. The ratios are of processor time, but for the one beside the requests. */
function caseTable(title: string, { contestants, rounds }: Measured): Table {
  const rows = contestants.map(({ name }) => {
    const turns = rounds(name);
    const times = turns.map(cpu);
    const [atFloor, atOurs] = [floor, ours].map(({ name }) => rounds(name));
    const pairs = [
      ratios(atFloor?.map(cpu) ?? [], times),
      ratios(times, atOurs?.map(cpu) ?? []),
    ];
    return [
      name,
      median(times, 1),
      median(turns.map(({ user }) => user), 1),
      median(turns.map(({ system }) => system), 1),
      ...pairs.flatMap((each) => [median(each), spread(each)]),
      median(turns.map(rate), 0),
      median(ratios(atOurs?.map(rate) ?? [], turns.map(rate))),
      median(turns.map(({ p50 }) => p50)),
      median(turns.map(({ p99 }) => p99)),
    ];
  });
  const columns = "|CPU µs|user|system|floor/it|min..max|it/ours|min..max" +
    "|requests/s|ours/it|p50 ms|p99 ms";
  const raw = contestants.map(({ name }) => ({ name, turns: rounds(name) }));
  return { title, columns: columns.split("|"), rows, raw };
}

/** The table of a runtime: the ratios by processor time, with each target that is missed. */
function runtimeTable(runtime: string, cases: readonly Measured[]): Table {
  const others = cases[0]?.contestants.filter(({ name }) => name !== ours.name);
  const rows = others?.map(({ name, kind }) => {
    const isOurs = kind === "ours" || kind === "standalone";
    const [above, below] = isOurs ? [ours.name, name] : [name, ours.name];
    const cells = cases.map(({ work, rounds }) => {
      const target = kind === "ours" ? undefined : work.targets[kind];
      const [over, under] = [above, below].map((name) => rounds(name).map(cpu));
      return judged(ratios(over ?? [], under ?? []), target);
    });
    return [`${above} / ${below}`, ...cells];
  });
  const columns = ["", ...cases.map(({ work }) => work.name)];
  const title = `${runtime}: ratios by processor time`;
  return { title, columns, rows: rows ?? [] };
}

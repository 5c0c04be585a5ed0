/**
 * A fleet: what several of our servers on one database answer, and what they take.
 */

import { readFileSync } from "node:fs";
import type { Case } from "./cases.ts";
import { type DatabaseName, openDatabases } from "./databases.ts";
import { inTurns, median } from "./figures.ts";
import {
  type MeasureOptions,
  type Server,
  startServer,
  type Turn,
  turn,
} from "./measure.ts";
import { formatTable } from "./report.ts";
import { findRuntime, type RuntimeName } from "./runtimes.ts";

/** The last two are how many cores were busy; the load takes more of them. */
const COLUMNS: readonly string[] = [
  ...["", "servers", "requests/s", "p99 ms"],
  ...["servers' cores", "PostgreSQL's"],
];

/** The most servers on a database; SQLite works in theirs, so that they are on one machine. */
const MOST: Readonly<Record<DatabaseName, number>> = {
  sqlite: 2,
  postgresql: 3,
};

/** The processor time of PostgreSQL for one request too, in µs. */
interface FleetTurn extends Turn {
  readonly databaseCpu: number;
}

/** Measures the fleet on a database and a runtime, and prints its figures. Needs Linux. */
export async function measureFleet(
  database: DatabaseName,
  runtimeName: RuntimeName,
  { contestants: [one], cases, pets, rounds, seconds }: MeasureOptions,
): Promise<void> {
  const runtime = findRuntime(runtimeName);
  if (one === undefined) throw new TypeError("No server is to be measured");
  const databases = await openDatabases(database);
  const servers: Server[] = [];
  try {
    const url = await databases.create();
    for (let count = 0; count < MOST[database]; count++) {
      servers.push(await startServer(runtime, one, url));
      if (count === 0) await databases.fill(url, one.tables, pets);
    }
    const rows = [COLUMNS];
    for (const work of cases) {
      console.error(`${database}, ${runtimeName}, fleet: ${work.title}`);
      const turns = servers.map((_, index) => {
        const fleet = servers.slice(0, index + 1);
        const processes = databases.processes;
        const measured = () =>
          fleetTurn({ fleet, processes, work, pets, seconds });
        return [fleet.length, measured] as const;
      });
      const found = await inTurns(new Map(turns), { rounds, warmUp: 2 });
      for (const [count, figures] of found) {
        rows.push([work.title, `${count}`, ...medians(figures)]);
      }
    }
    console.log(`\nServers on ${databases.title}, ${runtime.title}\n`);
    // SQLite has no processes of its own.
    const width = database === "sqlite" ? COLUMNS.length - 1 : COLUMNS.length;
    console.log(formatTable(rows.map((row) => row.slice(0, width))));
  } finally {
    await Promise.all(servers.map(({ process }) => process.stop()));
    await databases.close();
  }
}

/** A turn of several servers. */
async function fleetTurn({ fleet, processes, work, pets, seconds }: {
  readonly fleet: readonly Server[];
  readonly processes: () => readonly number[];
  readonly work: Case;
  readonly pets: number;
  readonly seconds: number;
}): Promise<FleetTurn> {
  const before = processorTime(processes());
  const done = await turn(fleet, { work, pets, seconds, connections: 64 });
  const time = processorTime(processes()) - before;
  return { ...done, databaseCpu: time / done.requests };
}

function medians(turns: readonly FleetTurn[]): readonly string[] {
  const middle = (read: (turn: FleetTurn) => number, digits = 2) =>
    median(turns.map(read)).toFixed(digits);
  const rate = ({ requests, seconds }: Turn) => requests / seconds;
  return [
    middle(rate, 0),
    middle(({ p99 }) => p99),
    middle((turn) => turn.cpu * rate(turn) / 1e6),
    middle((turn) => turn.databaseCpu * rate(turn) / 1e6),
  ];
}

/** User and system time of processes since they began, in µs. */
function processorTime(processes: readonly number[]): number {
  const ticks = processes.map((id) => {
    const fields = readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]
      ?.split(" ");
    return Number(fields?.[11]) + Number(fields?.[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * 10_000;
}

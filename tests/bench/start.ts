/**
 * The part `start` of the bench: from before a process is started to its first answer over HTTP.
 */

import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { ask } from "./http/answer.ts";
import { LIST20 } from "./http/cases.ts";
import * as contestants from "./http/contestants.ts";
import type { BenchOptions } from "./options.ts";
import { startProcess, temporaryFolder } from "./process.ts";
import { findRuntime, freePort, type Runtime } from "./runtimes.ts";
import * as figures from "./table.ts";

/** The one file over the standalone server: 1.5 times as long is good enough. */
const TARGET = 0.67;

/** Measures every server on every runtime. */
export async function* run(
  { runtimes, rounds }: BenchOptions,
): AsyncIterable<figures.Table> {
  const SQLITE_FILE = `${temporaryFolder()}/pets.db`;
  const DATABASE_URL = `sqlite:${SQLITE_FILE}`;
  const { contestant, ours, standalone } = contestants;
  const oneFile = { ...contestant("one_file", "floor"), env: { SQLITE_FILE } };
  const onSqlite = standalone("standalone with SQLite", { DATABASE_URL });
  const servers = [oneFile, ours, onSqlite, contestant("hono", "framework")];
  // Made before: a new file waits for the disk.
  await (await sqliteStorage(SQLITE_FILE)).close();
  for (const runtime of runtimes.map(findRuntime)) {
    console.error(`${runtime.title}, start`);
    const turns = servers.map((server) =>
      [server.name, () => firstAnswer(runtime, server)] as const
    );
    // Once before: what a runtime keeps of compiled code is there afterwards.
    const times = await figures.inTurns(new Map(turns), { rounds, warmUp: 1 });
    const rows = servers.map(({ name, kind }) => {
      const gains = figures.ratios(times(oneFile.name), times(name));
      const target = kind === "standalone" ? TARGET : undefined;
      const ms = [
        figures.median(times(name), 0),
        figures.spread(times(name), 0),
      ];
      return [
        name,
        ...ms,
        figures.judged(gains, target),
        figures.spread(gains),
      ];
    });
    const title = `Start on ${runtime.title}: ms to the first answer`;
    const columns = ["", "ms", "min..max", "one_file/it", "min..max"];
    yield { title, columns, rows };
  }
}

/** Starts a server, asks it for a list with a key, and ends it. */
async function firstAnswer(
  runtime: Runtime,
  { file, args, env }: contestants.Contestant,
): Promise<number> {
  const port = await freePort();
  const start = performance.now();
  const all = { ...contestants.ENVIRONMENT, PORT: `${port}`, ...env };
  const process = startProcess(runtime, file, args?.(port), all);
  try {
    await Promise.race([ask(port, LIST20), process.fault]);
    return performance.now() - start;
  } finally {
    // Not SIGKILL: Node may write its compile cache when the process ends by itself.
    await process.stop("SIGTERM");
  }
}

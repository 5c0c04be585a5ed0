/**
 * The part `start` of the bench: from before a process is started to its first answer over HTTP.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { chooseCases, requestText } from "./http/cases.ts";
import {
  COMMON_ENVIRONMENT,
  type Contestant,
  contestant,
  OURS,
  ours,
  standalone,
} from "./http/contestants.ts";
import type { BenchOptions } from "./options.ts";
import { startProcess } from "./process.ts";
import { findRuntimes, freePort, type Runtime } from "./runtimes.ts";
import { judged, middle, ratios, spread, type Table } from "./table.ts";
import { inTurns } from "./turns.ts";

const ONE_FILE = "one file with SQLite and valibot";
const STANDALONE = "standalone with SQLite";
/** The one file over the standalone server: 1.5 times as long is good enough. */
const TARGET = 0.67;

/** Measures every server on every runtime. */
export async function* run(options: BenchOptions): AsyncIterable<Table> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  try {
    // Made before: a new file waits for the disk.
    const SQLITE_FILE = join(folder, "pets.db");
    await (await sqliteStorage(SQLITE_FILE)).close();
    const servers: readonly Contestant[] = [
      contestant(ONE_FILE, "floor", {
        program: "one_file",
        env: { SQLITE_FILE },
      }),
      { ...ours, name: `${OURS}, in memory` },
      { ...standalone(`sqlite:${SQLITE_FILE}`, "on"), name: STANDALONE },
      contestant("hono, in memory", "framework", { program: "hono" }),
    ];
    for (const runtime of findRuntimes(options.runtimes)) {
      console.error(`${runtime.title}, start`);
      yield await startTable(runtime, servers, options.rounds);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startTable(
  runtime: Runtime,
  servers: readonly Contestant[],
  rounds: number,
): Promise<Table> {
  const turns = servers.map((server) =>
    [server.name, () => firstAnswer(runtime, server)] as const
  );
  // The first round is a warm-up: what a runtime keeps of compiled code is there afterwards.
  const times = await inTurns(Object.fromEntries(turns), rounds + 1);
  const of = (name: string): number[] => (times[name] ?? []).slice(1);
  return {
    title: `Start on ${runtime.title}: ms to the first answer`,
    columns: ["", "ms", "min..max", "one file/it", "min..max"],
    rows: servers.map(({ name }) => {
      const gains = ratios(of(ONE_FILE), of(name));
      const target = name === STANDALONE ? TARGET : undefined;
      return [
        name,
        middle(of(name), 0),
        spread(of(name), 0),
        judged(gains, target),
        spread(gains),
      ];
    }),
    raw: times,
  };
}

/** Starts a server, asks it for a list with a key, and ends it. */
async function firstAnswer(
  runtime: Runtime,
  { name, file, args, env }: Contestant,
): Promise<number> {
  const port = await freePort();
  const [list] = chooseCases(["list20"]);
  if (list === undefined) throw new TypeError("A case is missing");
  const request = requestText(list, port);
  const start = performance.now();
  const process = startProcess(runtime, file, {
    args: args?.(port) ?? [],
    env: { ...COMMON_ENVIRONMENT, PORT: String(port), ...env },
  });
  try {
    for (;;) {
      const answer = await Promise.race([ask(port, request), process.fault]);
      const time = performance.now() - start;
      if (answer?.startsWith("HTTP/1.1 200 ")) return time;
      if (answer !== undefined || time > 20_000) {
        throw new Error(`${name} on ${runtime.name} answers ${answer}`);
      }
      await delay(1);
    }
  } finally {
    // Not SIGKILL: Node may write its compile cache when the process ends by itself.
    await process.stop("SIGTERM");
  }
}

/** The first bytes of the answer; `undefined` when nobody listens yet. */
function ask(port: number, request: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setEncoding("latin1").once("data", (text) => {
      resolve(String(text));
      socket.destroy();
    });
    socket.on("error", () => {}); // it is closed as well
    socket.once("close", () => resolve(undefined));
  });
}

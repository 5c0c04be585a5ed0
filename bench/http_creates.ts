/**
 * What group commit gains over HTTP: creates a second at 64 connections, against the same server with
 * a transaction for each create. Every create is on disk before its 201 in both.
 *
 * ```sh
 * deno run -A bench/http_creates.ts
 * bun bench/http_creates.ts
 * node bench/http_creates.ts
 * ```
 *
 * The two servers are processes of the runtime that runs this. They take turns in one run, so a noisy
 * machine slows both; shown are medians, and the median of the ratios round by round.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { loadRuntime } from "../adapters/standalone/runtime.ts";
import { sqliteStorage } from "../adapters/storage/sqlite.ts";
import { apiKeys, createHandler } from "../mod.ts";

const CONNECTIONS = 64;
const ROUNDS = 9;
const ROUND = 1000; // ms
const BODY = '{"name":"Rex","categoryId":9007199254740993}';
const REQUEST =
  "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" +
  `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** Serves until its parent ends it, and says on which port. */
async function serveCreates(path: string, maxBatch: number): Promise<void> {
  const { serve, Response } = await loadRuntime();
  const storage = await sqliteStorage(path, { maxBatch });
  const handle = createHandler({
    storage,
    keys: apiKeys(["secret"]),
    Response,
  });
  const { port } = await serve(handle, { port: 0 });
  console.log(port);
}

async function startServer(
  path: string,
  maxBatch: number,
): Promise<{ child: ChildProcess; port: number }> {
  const flags = "Deno" in globalThis ? ["run", "-A"] : [];
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [
    ...flags,
    self,
    path,
    String(maxBatch),
  ], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  if (child.stdout === null) {
    throw new TypeError("The server has a standard output");
  }
  const [line] = await once(child.stdout, "data");
  return { child, port: Number(String(line)) };
}

/** Creates a second over one round: one request under way on each connection. */
function createsPerSecond(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let created = 0;
    const sockets = Array.from({ length: CONNECTIONS }, () => {
      const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
      socket.setEncoding("latin1").on("data", (text: string) => {
        if (!text.startsWith("HTTP/1.1 201 ")) return reject(new Error(text));
        created++;
        socket.write(REQUEST);
      });
      return socket.on("error", () => {}); // it is cut off when the round is over
    });
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
      resolve(created * 1000 / ROUND);
    }, ROUND);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const gathered = await startServer(join(folder, "gathered.db"), 256);
  const alone = await startServer(join(folder, "alone.db"), 1);
  const rounds: { readonly gathered: number; readonly alone: number }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const rates = {
      gathered: await createsPerSecond(gathered.port),
      alone: await createsPerSecond(alone.port),
    };
    if (round >= 0) rounds.push(rates); // the first warms up
  }
  for (const { child } of [gathered, alone]) {
    child.kill("SIGKILL");
    await once(child, "close");
  }
  rmSync(folder, { recursive: true });
  const ratio = median(rounds.map(({ gathered, alone }) => gathered / alone));
  console.log(
    `creates a second at ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`,
  );
  console.log(
    `  group commit          ${
      Math.round(median(rounds.map((r) => r.gathered)))
    }`,
  );
  console.log(
    `  a transaction each    ${Math.round(median(rounds.map((r) => r.alone)))}`,
  );
  console.log(`  ratio                 ${ratio.toFixed(1)}`);
}

const [path, maxBatch] = process.argv.slice(2);
if (path === undefined) await compare();
else await serveCreates(path, Number(maxBatch));

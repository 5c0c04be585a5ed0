/**
 * What group commit gains over HTTP: creates a second at 64 connections, against the same server with
 * a transaction for each create. Every create is on disk before its 201 in both.
 *
 * @module
 */

import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import type { Runtime } from "../http/runtimes.ts";
import { startProcess } from "../http/server.ts";
import { programArgs } from "../in_runtime.ts";
import { inNewFolder } from "../new_folder.ts";
import { inTurns } from "../turns.ts";
import type { ComparisonOptions } from "./comparison.ts";
import type { ServeCreatesTask } from "./serve_creates.ts";

/** How many requests are under way at once, each on a connection of its own. */
export const CONNECTIONS = 64;

/** Creates a second, round by round. */
export interface HttpCreates {
  readonly gathered: readonly number[];
  readonly alone: readonly number[];
}

const BODY = '{"name":"Rex","categoryId":9007199254740993}';
const REQUEST =
  "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" +
  `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** Measures on one runtime. The load comes from this process. */
export function measureHttpCreates(
  runtime: Runtime,
  { rounds, seconds }: ComparisonOptions,
): Promise<HttpCreates> {
  return inNewFolder(async (folder) => {
    const time = seconds * 500; // ms: half a turn
    const gathered = await startServer(runtime, {
      path: join(folder, "gathered.db"),
      maxBatch: 256,
    });
    try {
      const alone = await startServer(runtime, {
        path: join(folder, "alone.db"),
        maxBatch: 1,
      });
      return await inTurns({
        gathered: () => createsPerSecond(gathered.port, time),
        alone: () => createsPerSecond(alone.port, time),
      }, { rounds }).finally(alone.stop);
    } finally {
      await gathered.stop();
    }
  });
}

interface CreatesServer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

async function startServer(
  runtime: Runtime,
  task: ServeCreatesTask,
): Promise<CreatesServer> {
  const program = new URL("serve_creates.ts", import.meta.url);
  const child = startProcess(
    runtime.command,
    programArgs(runtime, program, task),
  );
  const ended = once(child, "close");
  let complaints = "";
  child.stderr?.on("data", (text) => complaints += text);
  const port = await Promise.race([
    once(child.stdout ?? child, "data").then(([line]) => Number(String(line))),
    ended.then(() => undefined),
  ]);
  if (port === undefined) {
    throw new Error(`The server ended before it listened:\n${complaints}`);
  }
  return {
    port,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Creates a second over some ms: one request under way on each connection. */
function createsPerSecond(port: number, time: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let created = 0;
    const sockets = Array.from({ length: CONNECTIONS }, () => {
      const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
      socket.setEncoding("latin1").on("data", (text: string) => {
        if (!text.startsWith("HTTP/1.1 201 ")) return reject(new Error(text));
        created++;
        socket.write(REQUEST);
      });
      return socket.on("error", () => {}); // it is cut off when the turn is over
    });
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
      if (created === 0) reject(new Error("Nothing was created"));
      resolve(created * 1000 / time);
    }, time);
  });
}

/**
 * A contestant's process: started, asked for its processor time, ended.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { COMMON_ENVIRONMENT, type Contestant } from "./contestants.ts";
import type { Runtime } from "./runtimes.ts";

/** A server that listens. */
export interface Server {
  readonly contestant: Contestant;
  /** It listens on 127.0.0.1. */
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** The processor time that the process has taken so far, on all its threads, in µs. */
  processorTime(): Promise<number>;
  /** Ends the process. */
  stop(): Promise<void>;
}

const STARTING_TIME = 20_000; // ms
const ANSWERING_TIME = 10_000; // ms

const FLAGS = {
  deno: ["run", "-A"],
  bun: ["run"],
  node: ["--disable-warning=ExperimentalWarning"],
} as const;

const running = new Set<ChildProcess>();

/** Ends all processes that were started here. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts a process that is ended with this one at the latest, and passes its errors on. */
export function startProcess(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  running.add(child);
  child.on("close", () => running.delete(child));
  // Where it is gone already, its end is reported by whoever waits for its answer.
  child.stdin?.on("error", () => {});
  return child;
}

/**
 * Starts a contestant and waits until it listens.
 *
 * @param env variables beside its own.
 */
export async function startServer(
  contestant: Contestant,
  runtime: Runtime,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const program = new URL(
    `../contestants/${contestant.program}`,
    import.meta.url,
  );
  const child = startProcess(
    runtime.command,
    [
      ...FLAGS[runtime.name],
      fileURLToPath(program),
      ...contestant.args?.(port) ?? [],
    ],
    { ...COMMON_ENVIRONMENT, PORT: String(port), ...contestant.env, ...env },
  );
  const fault = (what: string) =>
    new Error(`${contestant.name} on ${runtime.name} ${what}`);
  const { stderr, stdin } = child;
  if (stderr === null || stdin === null) throw fault("has no input or output");
  child.stdout?.resume(); // it may write a log: nobody reads it
  const ended = once(child, "close");
  let complaints = "";
  let onTime: ((microseconds: number) => void) | undefined;
  createInterface({ input: stderr }).on("line", (line) => {
    if (!line.startsWith("cpu ")) return void (complaints += `${line}\n`);
    const { user, system } = JSON.parse(line.slice(4));
    onTime?.(user + system);
  });

  const isOver = await Promise.race([
    untilListening(port, STARTING_TIME).then(() => false),
    ended.then(() => true),
  ]);
  if (isOver) throw fault(`ended before it listened:\n${complaints}`);
  return {
    contestant,
    port,
    origin: `http://127.0.0.1:${port}`,
    async processorTime() {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      onTime = resolve;
      const timer = setTimeout(
        () => reject(fault(`does not answer:\n${complaints}`)),
        ANSWERING_TIME,
      );
      ended.then(() => reject(fault(`has ended:\n${complaints}`)));
      stdin.write("\n");
      return await promise.finally(() => clearTimeout(timer));
    },
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" ? address?.port ?? 0 : 0;
      server.close(() => resolve(port));
    });
  });
}

async function untilListening(port: number, time: number): Promise<void> {
  const end = performance.now() + time;
  while (!await isListening(port)) {
    if (performance.now() > end) {
      throw new Error(`Nothing listens on port ${port} after ${time} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}

/**
 * How long a server takes from the start of its process to its first answer.
 *
 * @module
 */

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { serverPort } from "../../support/postgres/port.ts";
import { COMMON_ENVIRONMENT } from "../http/contestants.ts";
import type { Runtime } from "../http/runtimes.ts";
import { startProcess } from "../http/server.ts";

/** A server to start. */
export interface Starter {
  readonly name: string;
  /** Its program in `tests/bench/contestants`. */
  readonly program: string;
  /** How the program is started on a port. */
  readonly args?: (port: number) => readonly string[];
  /** Environment variables of its own. */
  readonly env?: Readonly<Record<string, string>>;
}

const FLAGS = {
  deno: ["run", "-A"],
  bun: ["run"],
  node: ["--disable-warning=ExperimentalWarning"],
} as const;

const LIMIT = 20_000; // ms
const ENDING_TIME = 3000; // ms
/** Between two looks whether it listens, in ms. */
const INTERVAL = 1;

/**
 * Starts a server, asks it for a list with a key, and ends it.
 *
 * @returns from before its start to its answer, in ms.
 * @throws {Error} where it ends, answers anything but 200, or says nothing for 20 s.
 */
export async function firstAnswer(
  { name: runtime, command }: Runtime,
  { name, program, args, env }: Starter,
  key: string,
): Promise<number> {
  const port = await serverPort();
  const url = new URL(`../contestants/${program}`, import.meta.url);
  const start = performance.now();
  const child = startProcess(
    command,
    [...FLAGS[runtime], fileURLToPath(url), ...args?.(port) ?? []],
    { ...COMMON_ENVIRONMENT, PORT: String(port), ...env },
  );
  child.stdout?.resume();
  let complaints = "";
  child.stderr?.on("data", (text) => complaints += text);
  const ended = once(child, "close");
  try {
    const request = `GET /v1/pets HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `Authorization: Bearer ${key}\r\n\r\n`;
    for (;;) {
      const answer = await ask(port, request);
      const time = performance.now() - start;
      if (answer?.startsWith("HTTP/1.1 200 ")) return time;
      if (answer !== undefined || child.exitCode !== null || time > LIMIT) {
        throw new Error(
          `${name} on ${runtime} did not answer: ${answer}\n${complaints}`,
        );
      }
      await delay(INTERVAL);
    }
  } finally {
    // Not SIGKILL: Node writes its compile cache when the process ends by itself.
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), ENDING_TIME);
    await ended;
    clearTimeout(timer);
  }
}

/** The first bytes of the answer; `undefined` where nobody listens yet. */
function ask(port: number, request: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setEncoding("latin1");
    socket.setTimeout(LIMIT, () => socket.destroy());
    socket.once("data", (text) => {
      resolve(String(text));
      socket.destroy();
    });
    socket.on("error", () => {}); // it is closed as well
    socket.once("close", () => resolve(undefined));
  });
}

/** Starts the standalone programs as an operator would, on any of the runtimes. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { test, type TestContext } from "node:test";
import type { OpenService } from "../contract/ask.ts";
import { atEnd } from "./at_end.ts";
import {
  type Ended,
  freePort,
  launch,
  type Program,
  run,
  startProgram,
  type Surroundings,
} from "./process.ts";
import { pathOf, readText } from "./repository.ts";
import { commandLine, type FoundRuntime, type Runtime } from "./runtime.ts";
import { newFolder } from "./temporary_directory.ts";
import { until } from "./time.ts";
import { answerTo, openWire, rawRequest } from "./wire.ts";
import { createClient } from "../../adapters/client/mod.ts";

/** The program. */
export const MAIN: string = pathOf("adapters/standalone/main.ts");
const SERVE = pathOf("adapters/standalone/serve.ts");

const FIXED_KEY = "secret";
/** Why there is no terminal for a server; `false` if there is one. */
export const NO_TERMINAL: string | false =
  spawnSync("script", ["--version"]).status !== 0 &&
  "script of util-linux is missing";

/** A running server, for `ask` with paths such as `/v1/pets`. */
export interface RunningServer
  extends Program, Pick<OpenService, "fetch" | "base"> {
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** A key that it accepts: the first one, if it printed one. */
  readonly key: string | undefined;
  /**
   * Returns its memory, in bytes; this and the next two need {@linkcode CANNOT_WATCH} to be
   * `false`.
   */
  readonly memory: () => number;
  /** Returns its processor time, in ms. */
  readonly processorTime: () => number;
  /** Returns the number of its open descriptors. */
  readonly descriptors: () => number;
}

/** Runs `main.ts` to its end. */
export function runMain(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<Ended> {
  return run(mainCommand(args), surroundings);
}

/**
 * The command line of `main.ts` with arguments, and the flags of their task. `runtime` replaces
 * that of the tests, and `main` the file.
 */
export function mainCommand(
  args: readonly string[],
  runtime?: Runtime,
  main: string = MAIN,
): readonly string[] {
  const [task] = args;
  const flags = taskFlags(
    task === "keys" || task === "copy" ? task : "start",
  );
  return [...commandLine(main, flags, runtime), ...args];
}

/** How a server is started. Default: in a new folder, with the key `secret`. */
export interface ServerOptions extends Surroundings {
  /** Default: any that is free. */
  readonly port?: number;
  /**
   * If true, its output goes to a terminal, so that it shows its first key, and `secret` is not
   * one.
   */
  readonly isTerminal?: boolean;
  /** Default: that of the tests. */
  readonly runtime?: Runtime;
  /** `main.ts` of a mutant. Default: the product. */
  readonly main?: string;
  /** A command that receives its command line: `["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]`. */
  readonly prefix?: readonly string[];
}

/** Starts `main.ts start`, and waits until it listens; it is ended after the test. */
export function startMain(
  t: TestContext,
  options: ServerOptions = {},
): Promise<RunningServer> {
  const { port = 0, runtime, main } = options;
  const args = ["start", "--port", `${port}`];
  return startCommand(t, mainCommand(args, runtime, main), options);
}

/**
 * Starts `serve.ts` under `deno serve`, and waits until it listens; it is ended after the test.
 */
export async function startServe(
  t: TestContext,
  { parallel = false, ...options }: ServerOptions & {
    /** With two workers, which are both open when this resolves. */
    readonly parallel?: boolean;
  } = {},
): Promise<RunningServer> {
  const { port = await freePort(), runtime } = options;
  const deno = runtime?.command ?? process.execPath;
  const words = [deno, "serve", "--host", "127.0.0.1", "--port", `${port}`]
    .concat(parallel ? "--parallel" : [], taskFlags("start"), SERVE);
  if (!parallel) return await startCommand(t, words, options);
  const env = { ...options.env, DENO_JOBS: "2" };
  const server = await startCommand(t, words, { ...options, env });
  // Each new connection may lead to another worker.
  const livez = rawRequest("GET /livez", ["Connection: close"]);
  const workers = new Set<string | undefined>();
  await until("both workers are open", async () => {
    const { lines } = await answerTo(server.port, livez);
    // What comes before the last "-" is the worker's own.
    workers.add(/^x-request-id: (.*)-/m.exec(lines.join("\n"))?.[1]);
    return workers.size === 2;
  });
  return server;
}

async function startCommand(
  t: TestContext,
  words: readonly string[],
  { cwd = newFolder(t), env, prefix = [], isTerminal = false }: ServerOptions,
): Promise<RunningServer> {
  const command = [...prefix, ...words];
  if (!isTerminal) {
    const all = { PETSTORE_API_KEYS: FIXED_KEY, ...env };
    const program = startProgram(t, command, { cwd, env: all });
    return await untilListening(program, FIXED_KEY);
  }
  const line = command.map((word) => `'${word}'`).join(" ");
  const program = startProgram(t, ["script", "-qefc", line, "/dev/null"], {
    cwd,
    isInteractive: true,
    ...env && { env },
  });
  // SIGKILL would end `script` alone, and the server would use its folder a little longer.
  atEnd(t, () => program.end());
  // A terminal shows both outputs.
  const stderr = () => program.stdout().replaceAll("\r", "");
  return await untilListening({ ...program, stderr });
}

/** Tells a server to stop, and waits until it says that it does. */
export async function tellToStop(
  { kill, stderr }: Pick<Program, "kill" | "stderr">,
): Promise<void> {
  kill("SIGTERM");
  await until("it says so", () => stderr().includes("SIGTERM"));
}

/** Tells a server that is stopping to exit at once, and returns its exit code. */
export async function tellToExit(
  { kill, exited }: Pick<Program, "kill" | "exited">,
): Promise<number | null> {
  let isOver = false;
  exited.then(() => isOver = true);
  await until("it exits", () => {
    kill("SIGTERM"); // again and again: soon after the first signal it is ignored
    return isOver;
  });
  return await exited;
}

/**
 * The flags of a task, which name the permissions: on a terminal Deno asks for what they do not
 * allow.
 */
export function taskFlags(
  task: "start" | "keys" | "copy",
): readonly string[] {
  const config: { tasks: Record<string, { command: string }> } = JSON.parse(
    readText("deno.json"),
  );
  const flags = (config.tasks[task]?.command ?? "").split(" ").filter((word) =>
    word.startsWith("-")
  );
  return ["--config", pathOf("deno.json"), ...flags];
}

/** Waits until a server listens; rejects if it ends first, or takes too long. It accepts `key`. */
export async function untilListening(
  program: Program,
  key?: string,
): Promise<RunningServer> {
  let hasEnded = false;
  program.exited.then(() => hasEnded = true);
  const greeting = /listens at (http:\/\/[^/\s]+)[^]*\n$/;
  const firstKey = /^ {4}(pet_\w+)\n\n/m;
  // A terminal may pass on one write in pieces: commands with the key, the address, the key.
  const isWhole = (text: string) =>
    greeting.test(text) &&
    (!text.includes("Bearer pet_") || firstKey.test(text));
  try {
    await until(
      "the server listens",
      () => hasEnded || isWhole(program.stderr()),
    );
    const [, origin = ""] = greeting.exec(program.stderr()) ?? [];
    if (origin === "") throw new Error("It ended");
    const printed = firstKey.exec(program.stderr())?.[1];
    const folder = `/proc/${program.pid}`;
    return {
      ...program,
      port: Number(new URL(origin).port),
      origin,
      fetch,
      base: origin,
      key: printed ?? key,
      memory() {
        const status = readFileSync(`${folder}/status`, "utf8");
        return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
      },
      processorTime() {
        const [, fields = ""] = readFileSync(`${folder}/stat`, "utf8")
          .split(") ");
        const [user, system] = fields.split(" ").slice(11);
        return 10 * (Number(user) + Number(system));
      },
      descriptors: () => readdirSync(`${folder}/fd`).length,
    };
  } catch (cause) {
    program.kill("SIGKILL");
    throw new Error(
      `The server did not start:\n${program.stdout()}\n${program.stderr()}`,
      { cause },
    );
  }
}

/** Starts any server, adds a pet at that port, and ends it. */
export async function assertServes(
  command: readonly string[],
  port: string,
  surroundings: Surroundings,
  categoryId = 9007199254740993n,
): Promise<void> {
  const server = launch(command, surroundings);
  try {
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const client = createClient({ baseUrl, key: "secret", retries: 10 });
    const signal = AbortSignal.timeout(30_000);
    const sent = { name: "Rex", categoryId };
    const pet = await client.createPet(sent, { signal });
    assert.deepEqual(pet, { ...pet, ...sent });
  } catch (cause) {
    throw new Error(server.stdout() + server.stderr(), { cause });
  } finally {
    await server.end("SIGKILL");
  }
}

const SLOW = '{"name":"Slow","categoryId":1}';

/**
 * Sends the header and half the body of a create, so that a server that is told to stop has it in
 * flight; resolves once the server waits for the rest.
 */
export async function openSlowCreate(
  t: TestContext,
  server: Pick<RunningServer, "port" | "key">,
) {
  const fields = [
    `Authorization: Bearer ${server.key}`,
    `Content-Length: ${SLOW.length}`,
    "Expect: 100-continue",
    "Connection: close",
  ];
  const wire = await openWire(t, server, rawRequest("POST /v1/pets", fields));
  // The server answers 100 when the handler reads the body: then the request is in flight.
  await wire.answer();
  wire.write(SLOW.slice(0, 10));
  return {
    /** Sends the rest, and returns the response once the server has closed the connection. */
    finish() {
      wire.write(SLOW.slice(10));
      return wire.rest();
    },
    /** Hangs up. */
    abandon: () => wire.close(),
  };
}

/** Why a server cannot be watched; `false` if it can. */
export const CANNOT_WATCH: string | false = !existsSync("/proc/self/fd") &&
  "there is no /proc to read memory and descriptors from";

/** Settings of a server in memory that logs no requests, and ends within a second of a signal. */
export const QUIET: Readonly<Record<string, string>> = {
  DATABASE_URL: "memory:",
  REQUEST_LOG: "off",
  SHUTDOWN_TIMEOUT: "1",
};

/**
 * Makes a function that registers tests of a quiet server on a runtime; they are skipped if it
 * cannot run or be watched.
 */
export function testsOn(
  runtime: FoundRuntime,
  { skip = false, start = startMain, ...options }: ServerOptions & {
    readonly skip?: string | false;
    readonly start?: typeof startMain;
  } = {},
): (
  title: string,
  check: (server: RunningServer, t: TestContext) => Promise<void>,
) => void {
  const reason = runtime.missing || CANNOT_WATCH || skip;
  return (title, check) =>
    test(`${runtime.name}: ${title}`, { skip: reason }, async (t) => {
      const server = await start(t, { env: QUIET, ...options, runtime });
      await check(server, t).catch((cause) => {
        throw new Error(`${title}: ${server.stderr()}`, { cause });
      });
    });
}

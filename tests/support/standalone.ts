/** Starts the standalone programs as an operator would, on any of the runtimes. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { OpenService } from "../contract/ask.ts";
import { Wire } from "../contract/wire.ts";
import {
  type Ended,
  freePort,
  launch,
  type Program,
  run,
  type Surroundings,
} from "./process.ts";
import {
  commandLine,
  type FoundRuntime,
  RUNTIME,
  type Runtime,
} from "./runtime.ts";
import { until } from "./time.ts";
import { createClient } from "../../adapters/client/mod.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = join(ROOT, "adapters/standalone");
/** The program. */
export const MAIN: string = join(FOLDER, "main.ts");
const SERVE = join(FOLDER, "serve.ts");

const FIXED_KEY = "secret";
/** Why there is no terminal to show a server on; `false` if there is one. */
export const NO_TERMINAL: string | false =
  spawnSync("script", ["--version"]).status !== 0 &&
  "script of util-linux is missing";

/** A server under way, which `ask` can ask for paths such as `/v1/pets`. */
export interface RunningServer
  extends Program, Pick<OpenService, "fetch" | "base"> {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** A key that it takes: the first one, if it printed one. */
  readonly key: string | undefined;
}

/**
 * Starts `main.ts` with arguments, and the flags of their task; `main` names another file, and `runtime`
 * another one than that of the tests.
 */
export function launchMain(
  args: readonly string[],
  surroundings: Surroundings,
  main: string = MAIN,
  runtime?: Runtime,
): Program {
  return launch(mainCommand(args, main, runtime), surroundings);
}

/** Runs `main.ts` to its end. */
export function runMain(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<Ended> {
  return run(mainCommand(args, MAIN), surroundings);
}

function mainCommand(
  args: readonly string[],
  main: string,
  runtime?: Runtime,
): readonly string[] {
  const [task] = args;
  const flags = taskFlags(
    task === "keys" || task === "ids" || task === "copy" ? task : "start",
  );
  return [...commandLine(main, flags, runtime), ...args];
}

/** Where a server runs. */
interface ServerSurroundings extends Surroundings {
  /** What it writes goes to a terminal, so that it shows its first key. Default: its key is `secret`. */
  readonly isTerminal?: boolean;
}

/** Starts `main.ts start` on a free port, and waits until it listens. */
export function startMain(
  surroundings: ServerSurroundings,
): Promise<RunningServer> {
  const command = mainCommand(["start", "--port", "0"], MAIN);
  return startCommand(command, surroundings);
}

/** Starts `serve.ts`, on Deno under `deno serve`, and waits until it listens: by default on a free port. */
export async function startServe(
  { parallel = false, port, env, ...surroundings }: ServerSurroundings & {
    readonly parallel?: boolean;
    readonly port?: number;
  },
): Promise<RunningServer> {
  port ??= await freePort();
  const command = RUNTIME === "deno"
    ? denoServe(process.execPath, port, [
      ...parallel ? ["--parallel"] : [],
      ...taskFlags("start"),
    ])
    : commandLine(SERVE);
  const all = { ...surroundings, env: { ...env, PORT: `${port}` } };
  return await startCommand(command, all);
}

async function startCommand(
  command: readonly string[],
  { isTerminal = false, env, ...surroundings }: ServerSurroundings,
): Promise<RunningServer> {
  if (!isTerminal) {
    const all = { PETSTORE_API_KEYS: FIXED_KEY, ...env };
    const program = launch(command, { ...surroundings, env: all });
    return await untilListening(program, FIXED_KEY);
  }
  const words = command.map((word) => `'${word}'`).join(" ");
  const terminal = ["script", "-qefc", words, "/dev/null"];
  const program = launch(terminal, {
    ...surroundings,
    isInteractive: true,
    ...env && { env },
  });
  // A terminal shows both outputs.
  const stderr = () => program.stdout().replaceAll("\r", "");
  return await untilListening({ ...program, stderr });
}

function denoServe(
  deno: string,
  port: number,
  flags: readonly string[],
): readonly string[] {
  const where = ["--host", "127.0.0.1", "--port", `${port}`];
  return [deno, "serve", ...where, ...flags, SERVE];
}

/** The flags of a task, which name the permissions: on a terminal Deno asks for what they do not allow. */
export function taskFlags(
  task: "start" | "keys" | "ids" | "copy",
): readonly string[] {
  const config: { tasks: Record<string, { command: string }> } = JSON.parse(
    readFileSync(join(ROOT, "deno.json"), "utf8"),
  );
  const flags = (config.tasks[task]?.command ?? "").split(" ").filter((word) =>
    word.startsWith("-")
  );
  return ["--config", join(ROOT, "deno.json"), ...flags];
}

/** Waits until a server listens; rejects if it ends first, or takes too long. `key` is one that it takes. */
export async function untilListening(
  program: Program,
  key?: string,
): Promise<RunningServer> {
  let hasEnded = false;
  program.exited.then(() => hasEnded = true);
  const greeting = /listens at (http:\/\/[^/\s]+)[^]*\n$/;
  const firstKey = /^ {4}(pet_\w+)\n\n/m;
  // A terminal may hand on what is one write in pieces: commands with the key, the address, the key.
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
    return { ...program, fetch, base: origin, origin, key: printed ?? key };
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

/** A create that is half sent: what a server has in flight when it is told to stop. */
export interface SlowCreate {
  /** Sends the rest, and returns the response once the server has closed the connection. */
  finish(): Promise<string>;
  /** Hangs up. */
  abandon(): void;
}

/** Sends the head and half the body of a create; resolves once the server is waiting for the rest. */
export async function openSlowCreate(
  { origin, key }: Pick<RunningServer, "origin" | "key">,
): Promise<SlowCreate> {
  const { port, host } = new URL(origin);
  const wire = await Wire.open(
    Number(port),
    `POST /v1/pets HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${SLOW.length}\r\n` +
      `Expect: 100-continue\r\nConnection: close\r\n\r\n`,
  );
  // The server answers 100 when the handler asks for the body: then the request is in flight.
  await wire.answer();
  wire.write(SLOW.slice(0, 10));
  return {
    finish() {
      wire.write(SLOW.slice(10));
      return wire.rest();
    },
    abandon: () => wire.close(),
  };
}

/** Options of {@linkcode withStandalone}. */
export interface StandaloneOptions {
  /** `main`, or `serve` and `parallel` for `deno serve`. Default: `main`. */
  readonly program?: "main" | "serve" | "parallel";
  /** The most descriptors that it may have open. Default: as many as this process. */
  readonly maxDescriptors?: number;
  /** Its `DATABASE_URL`. Default: `memory:`. */
  readonly database?: string;
  /** Its `METRICS`. Default: `off`. */
  readonly metrics?: "on" | "off";
}

/** A server under way on one of the runtimes, whose memory and descriptors are watched. Its key is `secret`. */
export interface Standalone extends Program {
  readonly port: number;
  /** Returns its memory, in bytes. */
  readonly memory: () => number;
  /** Returns the number of its open descriptors. */
  readonly descriptors: () => number;
}

/** Why a server cannot be watched; `false` if it can. */
export const CANNOT_WATCH: string | false = !existsSync("/proc/self/fd") &&
  "there is no /proc to read memory and descriptors from";

/** Makes a function that registers tests of servers on a runtime; they are skipped if it cannot run or be watched. */
export function testsOn(
  runtime: FoundRuntime,
  { skip = false, ...options }: StandaloneOptions & {
    readonly skip?: string | false;
  } = {},
): (title: string, work: (server: Standalone) => Promise<void>) => void {
  return (title, work) =>
    test(
      `${runtime.name}: ${title}`,
      { skip: runtime.missing || CANNOT_WATCH || skip },
      () => withStandalone(runtime, options, work),
    );
}

/** Starts a server, hands it to `work` once it listens, and ends it afterwards. */
export async function withStandalone(
  runtime: FoundRuntime,
  { program = "main", maxDescriptors, database = "memory:", metrics = "off" }:
    StandaloneOptions,
  work: (server: Standalone) => Promise<void>,
): Promise<void> {
  const limit = maxDescriptors === undefined
    ? ""
    : `ulimit -n ${maxDescriptors}; `;
  const port = await freePort();
  const flags = program === "parallel" ? ["-A", "--parallel"] : ["-A"];
  const command = program === "main"
    ? [...commandLine(MAIN, flags, runtime), "start", "--port", `${port}`]
    : denoServe(runtime.command, port, flags);
  const server = launch(["sh", "-c", `${limit}exec "$@"`, "sh", ...command], {
    cwd: FOLDER,
    env: {
      DATABASE_URL: database,
      PETSTORE_API_KEYS: "secret",
      REQUEST_LOG: "off",
      METRICS: metrics,
      SHUTDOWN_TIMEOUT: "1",
    },
  });
  const folder = `/proc/${server.pid}`;
  try {
    await untilListening(server);
    await work({
      ...server,
      port,
      memory() {
        const status = readFileSync(`${folder}/status`, "utf8");
        return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
      },
      descriptors: () => readdirSync(`${folder}/fd`).length,
    });
  } catch (cause) {
    const message = `${runtime.name} ${program}: ${server.stderr()}`;
    throw new Error(message, { cause });
  } finally {
    await server.end("SIGKILL");
  }
}

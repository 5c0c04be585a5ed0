/** Starts the standalone programs as an operator would, with the flags of the tasks in deno.json. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestOptions } from "node:test";
import { fileURLToPath } from "node:url";
import { Wire } from "../../contract/wire.ts";
import { freePort } from "../../support/ports.ts";
import { until } from "../../support/postgres/until.ts";
import { commandLine, RUNTIME } from "../../support/runtime.ts";

export { freePort, RUNTIME };

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** The program. */
export const MAIN = join(ROOT, "adapters/standalone/main.ts");
const SERVE = join(ROOT, "adapters/standalone/serve.ts");

/** A program under way. */
export interface Program {
  readonly pid: number | undefined;
  /** Returns all that it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends a signal. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Its exit code; `null` if a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Sends a signal, SIGTERM by default, and returns the exit code; `null` if it has not ended after a minute. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** A server under way. */
export interface RunningServer extends Program {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** The first key, if it printed one. */
  readonly key: string | undefined;
}

/** Time that a program has to end after a signal, in ms. */
const END_TIMEOUT = 60_000;

/** Settings of a program. */
export interface Surroundings {
  /** The folder it runs in. */
  readonly cwd: string;
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `work` in a new folder, which is gone afterwards. */
export async function inNewFolder(
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Registers a test that is given a new folder. */
export function testInFolder(
  title: string,
  check: (folder: string) => Promise<void>,
  options: TestOptions = {},
): void {
  test(title, options, () => inNewFolder(check));
}

/** Runs `main.ts` with arguments; `main` names another one. */
export function runMain(
  args: readonly string[],
  surroundings: Surroundings,
  main = MAIN,
): Program {
  const [task] = args;
  const flags = taskFlags(task === "keys" || task === "copy" ? task : "start");
  return run([...commandLine(main, flags), ...args], surroundings);
}

/** Runs `main.ts` to its end. */
export async function runToEnd(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<
  {
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }
> {
  const program = runMain(args, surroundings);
  const code = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/** Starts `main.ts start` on a free port, and waits until it listens. */
export function startMain(surroundings: Surroundings): Promise<RunningServer> {
  return untilListening(runMain(["start", "--port", "0"], surroundings));
}

/** Asks for a path, with the server's key and further fields; a body makes it a create. */
export async function ask(
  { origin, key }: Pick<RunningServer, "origin" | "key">,
  path: string,
  body?: string,
  fields: Readonly<Record<string, string>> = {},
) {
  const type = { "content-type": "application/json" };
  const response = await fetch(origin + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, ...type, ...fields },
    body: body ?? null,
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

/** Starts `serve.ts` under `deno serve`, or under Bun, and waits until it listens. */
export async function startServe(
  { parallel = false, env, cwd }: Surroundings & {
    readonly parallel?: boolean;
  },
): Promise<RunningServer> {
  const port = String(await freePort());
  const words = RUNTIME === "deno"
    ? [
      ...[process.execPath, "serve", "--host", "127.0.0.1", "--port", port],
      ...[...(parallel ? ["--parallel"] : []), ...taskFlags("start"), SERVE],
    ]
    : commandLine(SERVE);
  return await untilListening(run(words, { cwd, env: { ...env, PORT: port } }));
}

/** The flags of a task, which name the permissions: on a terminal Deno asks for what they do not allow. */
export function taskFlags(
  task: "start" | "keys" | "copy",
): readonly string[] {
  const config: { tasks: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, "deno.json"), "utf8"),
  );
  const flags = (config.tasks[task] ?? "").split(" ").filter((word) =>
    word.startsWith("-")
  );
  return ["--config", join(ROOT, "deno.json"), ...flags];
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

/** Runs a command. */
export function run(
  [command = "", ...args]: readonly string[],
  { cwd, env }: Surroundings,
): Program {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  const exited = new Promise<number | null>((resolve) =>
    child.once("close", resolve)
  );
  // Not child.kill(): after that Deno reports the signal in place of the exit code.
  function kill(signal: NodeJS.Signals): void {
    if (child.pid !== undefined && child.exitCode === null) {
      process.kill(child.pid, signal);
    }
  }
  return {
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    kill,
    exited,
    end(signal = "SIGTERM") {
      kill(signal);
      const timer = setTimeout(kill, END_TIMEOUT, "SIGKILL");
      return exited.finally(() => clearTimeout(timer));
    },
  };
}

/** Waits until a server listens; rejects if it ends first, or takes too long. */
export async function untilListening(program: Program): Promise<RunningServer> {
  let hasEnded = false;
  program.exited.then(() => hasEnded = true);
  // Where it prints a key, it prints it after the address, in one write.
  const greeting = /listens at (http:\/\/[^/\s]+)[^]*\n$/;
  try {
    await until(
      "the server listens",
      () => hasEnded || greeting.test(program.stderr()),
    );
    const [, origin = ""] = greeting.exec(program.stderr()) ?? [];
    if (origin === "") throw new Error("It ended");
    const key = /^ {4}(pet_\w+)$/m.exec(program.stderr())?.[1];
    return { ...program, origin, key };
  } catch (cause) {
    program.kill("SIGKILL");
    throw new Error(
      `The server did not start:\n${program.stdout()}\n${program.stderr()}`,
      { cause },
    );
  }
}

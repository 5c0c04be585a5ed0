/**
 * Starts the standalone programs as an operator would: as processes, on the runtime that runs the
 * tests, with the permission flags of the tasks in deno.json.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** The runtime that runs this test. */
export const RUNTIME: "deno" | "bun" | "node" = "Deno" in globalThis
  ? "deno"
  : "Bun" in globalThis
  ? "bun"
  : "node";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** The program. */
export const MAIN = join(ROOT, "adapters/standalone/main.ts");
const SERVE = join(ROOT, "adapters/standalone/serve.ts");
const START_TIMEOUT = 20_000;

/** A program under way. */
export interface Program {
  /** What it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends a signal. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Its exit code; `null` where a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** A server under way. */
export interface RunningServer extends Program {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** The first key, where it printed one. */
  readonly key: string | undefined;
}

/** Settings of a program. */
export interface Surroundings {
  /** The folder it runs in. */
  readonly cwd: string;
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than the runtime that runs this test. */
  readonly command?: string;
}

/** A TCP port of 127.0.0.1 that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) {
    throw new TypeError("It listens on TCP");
  }
  return address.port;
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
): void {
  test(title, () => inNewFolder(check));
}

/** Runs `main.ts` with arguments. */
export function runMain(
  args: readonly string[],
  surroundings: Surroundings,
): Program {
  const flags = RUNTIME === "deno"
    ? ["run", ...taskFlags(isTask(args[0]) ? args[0] : "start")]
    : [];
  return run([...flags, MAIN, ...args], surroundings);
}

/** Runs `main.ts` to its end; rejects where it takes too long. */
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

/** Starts `serve.ts` under `deno serve`, or under Bun, and waits until it listens. */
export function startServe(
  surroundings: Surroundings & {
    readonly port: number;
    readonly parallel?: boolean;
  },
): Promise<RunningServer> {
  const { port, parallel = false, env, cwd } = surroundings;
  const args = RUNTIME === "deno"
    ? [
      "serve",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      ...(parallel ? ["--parallel"] : []),
      ...taskFlags("start"),
      SERVE,
    ]
    : [SERVE];
  return untilListening(
    run(args, { cwd, env: { ...env, PORT: String(port) } }),
  );
}

/** A command with a task of its own. */
type Task = "start" | "keys" | "copy";

function isTask(command: string | undefined): command is Task {
  return command === "start" || command === "keys" || command === "copy";
}

/** The flags of a task, `--allow-env=…` and so on: on a terminal Deno asks for what they do not allow. */
export function taskFlags(task: Task): readonly string[] {
  const config: { tasks: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, "deno.json"), "utf8"),
  );
  const flags = (config.tasks[task] ?? "").split(" ").filter((word) =>
    /^--(?:allow|no-prompt)/.test(word)
  );
  return ["--config", join(ROOT, "deno.json"), ...flags];
}

/** Runs the runtime with these arguments. */
export function run(
  args: readonly string[],
  { cwd, env, command = process.execPath }: Surroundings,
): Program {
  const quiet = RUNTIME === "node"
    ? ["--disable-warning=ExperimentalWarning"]
    : [];
  const child = spawn(command, [...quiet, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout = collect(child, "stdout");
  const stderr = collect(child, "stderr");
  return {
    stdout,
    stderr,
    // Not child.kill(): after that Deno reports the signal in place of the exit code.
    kill: (signal) => {
      if (child.pid !== undefined && child.exitCode === null) {
        process.kill(child.pid, signal);
      }
    },
    exited: new Promise((resolve) =>
      child.once("close", (code) => resolve(code))
    ),
  };
}

function collect(child: ChildProcess, name: "stdout" | "stderr"): () => string {
  let text = "";
  child[name]?.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  return () => text;
}

/** Waits until a server listens; rejects if it ends first, or takes too long. */
export async function untilListening(program: Program): Promise<RunningServer> {
  const deadline = Date.now() + START_TIMEOUT;
  let ended = false;
  program.exited.then(() => ended = true);
  while (!ended && Date.now() < deadline) {
    const greeting = program.stderr();
    const origin = /listens at (http:\/\/[^/\s]+)/.exec(greeting)?.[1];
    // Where it prints a key, it prints it after the address, in one write.
    if (origin !== undefined && greeting.endsWith("\n")) {
      return {
        ...program,
        origin,
        key: /^ {4}(pet_\w+)$/m.exec(greeting)?.[1],
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  program.kill("SIGKILL");
  throw new Error(
    `The server did not start:\n${program.stdout()}\n${program.stderr()}`,
  );
}

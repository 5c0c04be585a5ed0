/** Servers, started by a command as an operator has it. @module */

import { spawn } from "node:child_process";
import process from "node:process";

/** A command, and where it runs. */
export interface Command {
  /** The program, and its arguments. */
  readonly words: readonly string[];
  readonly cwd: string;
  /** Environment variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** A server under way. */
export interface DeployedServer {
  /** Sends a signal, and returns the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

const START_TIMEOUT = 30_000;

/** Starts a server and hands it to `work`, once `probe` is answered; afterwards it is gone. */
export async function withServer(
  command: Command,
  probe: string,
  work: (server: DeployedServer) => Promise<void>,
): Promise<void> {
  const { child, exited, output } = start(command);
  const ended = exited.then(() => {
    throw new Error(`It ended before it answered:\n${output()}`);
  });
  try {
    await Promise.race([untilAnswered(probe), ended]);
    ended.catch(() => {}); // from now on it may end
    await work({
      stop(signal) {
        // Not child.kill(): after that Deno reports the signal in place of the exit code.
        if (child.pid !== undefined) process.kill(child.pid, signal);
        return exited;
      },
    });
  } finally {
    if (child.exitCode === null) child.kill("SIGKILL");
    await exited;
  }
}

/** Runs a command to its end, and returns its exit code. */
export async function exitCode(command: Command): Promise<number | null> {
  return await start(command).exited;
}

function start({ words, cwd, env }: Command) {
  const [program = "", ...args] = words;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output += text);
  }
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  return { child, exited, output: () => output };
}

async function untilAnswered(url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT;
  for (;;) {
    try {
      const response = await fetch(url);
      return await response.body?.cancel();
    } catch (cause) {
      if (Date.now() > deadline) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

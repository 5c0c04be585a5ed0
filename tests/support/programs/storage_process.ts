/** Starts `storage.ts` in a process of its own, on the runtime that runs the tests. */

import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { commandLine } from "../runtime.ts";

const PROGRAM = fileURLToPath(new URL("storage.ts", import.meta.url));

/** A running `storage.ts`. */
export interface StorageProcess {
  /** Sends one command. */
  send(command: string): void;
  /** The next answers up to the first that begins so; to the last if the process ends before. */
  answersUntil(beginning: string): Promise<readonly string[]>;
  /** Ends it with SIGKILL; fulfilled with the answers that it had given, once it is gone. */
  kill(): Promise<readonly string[]>;
  /** Ends it in order. */
  end(): Promise<void>;
}

/** Settings of {@linkcode startStorage}. */
export interface StartOptions {
  /** The command line that the runtime's own is appended to. Default: none. */
  readonly prefix?: readonly string[];
  /** Flags of Deno. Default: all permissions. */
  readonly denoFlags?: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the program. */
export function startStorage(options: StartOptions = {}): StorageProcess {
  const { prefix = [], denoFlags, env = {} } = options;
  const [command = "", ...args] = [
    ...prefix,
    ...commandLine(PROGRAM, denoFlags),
  ];
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const exited = new Promise<void>((resolve) =>
    child.on("exit", () => resolve())
  );
  const lines = createInterface({ input: child.stdout })
    [Symbol.asyncIterator]();

  async function answersUntil(beginning: string): Promise<readonly string[]> {
    const answers: string[] = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) return answers;
      answers.push(value);
      if (value.startsWith(beginning)) return answers;
    }
  }

  return {
    send: (line) => void child.stdin.write(`${line}\n`),
    answersUntil,
    async kill() {
      child.kill("SIGKILL");
      const answers = await answersUntil("never");
      await exited;
      return answers;
    },
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}

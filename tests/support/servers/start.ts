/** Starts `service.ts` on any of the runtimes. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { OpenServer } from "../../contract/register.ts";
import { commandLine, findRuntimes, type Runtime } from "../runtime.ts";

export { findRuntimes, type FoundRuntime } from "../runtime.ts";

/** A program that is running. */
interface Program {
  /** Makes it serve one more service, with these options, whose key is `secret`. */
  open(options: unknown): Promise<OpenServer>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Registers tests of a server on every runtime; one that is missing is reported as skipped. */
export function onEveryRuntime(
  what: string,
  register: (name: Runtime["name"], open: Program["open"]) => void,
): void {
  for (const runtime of findRuntimes()) {
    const { name, missing } = runtime;
    if (missing !== undefined) {
      test(`${name}: ${what}`, { skip: missing }, () => {});
      continue;
    }
    const program = start(runtime);
    after(() => program.stop());
    register(name, program.open);
  }
}

/** Starts the program on a runtime. */
function start(runtime: Runtime): Program {
  const file = fileURLToPath(new URL("service.ts", import.meta.url));
  const flags = ["--allow-net", "--allow-env"];
  const [command = "", ...args] = commandLine(file, flags, runtime);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })
    [Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.on("close", resolve));
  let turn: Promise<unknown> = Promise.resolve();
  return {
    open(options) {
      const server = turn.then(async () => {
        child.stdin.write(`${JSON.stringify(options)}\n`);
        const { done, value } = await lines.next();
        if (done) throw new Error(`${runtime.name} ended before it served`);
        const { port } = JSON.parse(value);
        return { port, key: "secret", close: () => Promise.resolve() };
      });
      turn = server.catch(() => {});
      return server;
    },
    stop() {
      child.stdin.end();
      return ended;
    },
  };
}

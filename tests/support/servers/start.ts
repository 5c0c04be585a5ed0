/** Starts `service.ts` on any of the runtimes. */

import { spawn, spawnSync } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { OpenServer } from "../../contract/register.ts";
import { commandLine, type Runtime } from "../runtime.ts";
import { skipping } from "../skipping.ts";

/** A runtime: from the environment (`PETSTORE_TEST_NODE=/usr/bin/node22`), or of the `PATH`. */
export interface FoundRuntime extends Runtime {
  /** Why it is not there; `undefined` where it is. */
  readonly missing: string | undefined;
}

/** A program that is running. */
interface Program {
  /** Makes it serve one more service, with these options, whose key is `secret`. */
  open(options: unknown): Promise<OpenServer>;
  /** Ends it. */
  stop(): Promise<void>;
}

const LEAST_VERSION = { deno: [2, 9], bun: [1, 4], node: [22, 18] } as const;

/** Looks for the three runtimes. */
export function findRuntimes(): FoundRuntime[] {
  return (["deno", "bun", "node"] as const).map((name) => {
    const variable = `PETSTORE_TEST_${name.toUpperCase()}`;
    const command = process.env[variable] ?? name;
    const { stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
    const [, major = 0, minor = 0] = /(\d+)\.(\d+)\./.exec(stdout ?? "")
      ?.map(Number) ?? [];
    const [leastMajor, leastMinor] = LEAST_VERSION[name];
    const isNew = major > leastMajor ||
      (major === leastMajor && minor >= leastMinor);
    const missing = skipping(
      !isNew &&
        `${command} is not ${name} ${leastMajor}.${leastMinor} or later: set ${variable}`,
    );
    return { name, command, missing: missing || undefined };
  });
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

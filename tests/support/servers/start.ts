/** Starts the programs beside this file, each on the runtime it is named after. @module */

import { spawn, spawnSync } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { skipping } from "../skipping.ts";

/** A runtime, and how to find it. */
export interface Runtime {
  readonly name: "deno" | "bun" | "node";
  /** The program: from the environment (`PETSTORE_TEST_NODE=/usr/bin/node22`), or of the `PATH`. */
  readonly command: string;
  /** Why it is not there; `undefined` where it is. */
  readonly missing: string | undefined;
}

/** A program that is running. */
export interface Program {
  /** Makes it serve one more service, with these options. */
  open(options: unknown): Promise<{ readonly port: number }>;
  /** Ends it. */
  stop(): Promise<void>;
}

const LEAST_VERSION = { deno: [2, 9], bun: [1, 4], node: [22, 18] } as const;

/** Looks for the three runtimes. */
export function findRuntimes(): Runtime[] {
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

/** Starts the program of a runtime. */
export function start({ name, command }: Runtime): Program {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  const args = {
    deno: ["run", "--allow-net", "--allow-env", file],
    bun: [file],
    node: ["--disable-warning=ExperimentalWarning", file],
  };
  const child = spawn(command, args[name], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })
    [Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.on("close", resolve));
  let turn: Promise<unknown> = Promise.resolve();
  return {
    open(options) {
      const address = turn.then(async () => {
        child.stdin.write(`${JSON.stringify(options)}\n`);
        const { done, value } = await lines.next();
        if (done) throw new Error(`${name} ended before it served`);
        return JSON.parse(value);
      });
      turn = address.catch(() => {});
      return address;
    },
    stop() {
      child.stdin.end();
      return ended;
    },
  };
}

/**
 * The standalone server as a process on any of the runtimes, with what it uses of memory and
 * descriptors.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Runtime } from "./start.ts";

/** How it is started. */
export interface StandaloneOptions {
  /** `main`, or `serve` and `parallel` for `deno serve`. Default: `main`. */
  readonly program?: "main" | "serve" | "parallel";
  /** The most descriptors that it may have open. Default: as many as this process. */
  readonly maxDescriptors?: number;
}

/** A server under way. Its key is `secret`, its storage the memory. */
export interface Standalone {
  readonly port: number;
  /** What it has written on standard error. */
  readonly stderr: () => string;
  /** Its exit code; `null` if a signal ended it. */
  readonly exited: Promise<number | null>;
  /** How much memory it has, in bytes. */
  readonly memory: () => number;
  /** How many descriptors it has open. */
  readonly descriptors: () => number;
}

/** Why a server cannot be watched; `false` if it can. */
export const CANNOT_WATCH: string | false = existsSync("/proc/self/fd")
  ? false
  : "there is no /proc to read memory and descriptors from";

const START_TIMEOUT = 20_000;
const FOLDER = fileURLToPath(
  new URL("../../../adapters/standalone", import.meta.url),
);

/** Starts a server, hands it to `work` once it listens, and ends it afterwards. */
export async function withStandalone(
  runtime: Runtime,
  options: StandaloneOptions,
  work: (server: Standalone) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const { program = "main", maxDescriptors } = options;
  const limit = maxDescriptors === undefined
    ? ""
    : `ulimit -n ${maxDescriptors}; `;
  const child = spawn(
    "sh",
    ["-c", `${limit}exec "$@"`, "sh", ...commandLine(runtime, program, port)],
    {
      env: {
        ...process.env,
        NO_COLOR: "1",
        DATABASE_URL: "memory:",
        PETSTORE_API_KEYS: "secret",
        REQUEST_LOG: "off",
        SHUTDOWN_TIMEOUT: "1",
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  const exited = new Promise<number | null>((resolve) =>
    child.once("close", resolve)
  );
  const folder = `/proc/${child.pid}`;
  try {
    await untilListening(port, exited);
    await work({
      port,
      stderr: () => stderr,
      exited,
      memory() {
        const status = readFileSync(`${folder}/status`, "utf8");
        return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
      },
      descriptors: () => readdirSync(`${folder}/fd`).length,
    });
  } catch (cause) {
    throw new Error(`${runtime.name} ${program}: ${stderr}`, { cause });
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}

function commandLine(
  { name, command }: Runtime,
  program: "main" | "serve" | "parallel",
  port: number,
): readonly string[] {
  if (program !== "main") {
    const flags = program === "parallel" ? ["--parallel"] : [];
    return [
      ...[command, "serve", "-A", "--host", "127.0.0.1", "--port", `${port}`],
      ...[...flags, `${FOLDER}/serve.ts`],
    ];
  }
  const flags = {
    deno: ["run", "-A"],
    bun: [],
    node: ["--disable-warning=ExperimentalWarning"],
  };
  return [
    ...[command, ...flags[name], `${FOLDER}/main.ts`],
    ...["start", "--port", `${port}`],
  ];
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

async function untilListening(
  port: number,
  exited: Promise<unknown>,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT;
  let hasEnded = false;
  exited.then(() => hasEnded = true);
  while (!hasEnded && Date.now() < deadline) {
    const isListening = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isListening) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("It does not listen");
}

/** The standalone server on any of the runtimes, with what it uses of memory and descriptors. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type Program,
  run,
  untilListening,
} from "../../adapters/standalone/program.ts";
import { freePort } from "../ports.ts";
import { commandLine } from "../runtime.ts";
import type { FoundRuntime } from "./start.ts";

/** Options of {@linkcode withStandalone}. */
export interface StandaloneOptions {
  /** `main`, or `serve` and `parallel` for `deno serve`. Default: `main`. */
  readonly program?: "main" | "serve" | "parallel";
  /** The most descriptors that it may have open. Default: as many as this process. */
  readonly maxDescriptors?: number;
  /** Its `DATABASE_URL`. Default: `memory:`. */
  readonly database?: string;
}

/** A server under way. Its key is `secret`. */
export interface Standalone extends Program {
  readonly port: number;
  /** Returns its memory, in bytes. */
  readonly memory: () => number;
  /** Returns the number of its open descriptors. */
  readonly descriptors: () => number;
}

/** Why a server cannot be watched; `false` if it can. */
export const CANNOT_WATCH: string | false = existsSync("/proc/self/fd")
  ? false
  : "there is no /proc to read memory and descriptors from";

const FOLDER = fileURLToPath(
  new URL("../../../adapters/standalone", import.meta.url),
);

/** Registers a test, which is given a server. */
export type TestServer = (
  title: string,
  work: (server: Standalone) => Promise<void>,
) => void;

/** Makes a function that registers tests of servers on a runtime; they are skipped if it cannot run or be watched. */
export function testsOn(
  runtime: FoundRuntime,
  { skip = false, ...options }: StandaloneOptions & {
    readonly skip?: string | false;
  } = {},
): TestServer {
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
  { program = "main", maxDescriptors, database = "memory:" }: StandaloneOptions,
  work: (server: Standalone) => Promise<void>,
): Promise<void> {
  const limit = maxDescriptors === undefined
    ? ""
    : `ulimit -n ${maxDescriptors}; `;
  const port = await freePort();
  const server = run(
    ["sh", "-c", `${limit}exec "$@"`, "sh", ...words(runtime, program, port)],
    {
      cwd: FOLDER,
      env: {
        DATABASE_URL: database,
        PETSTORE_API_KEYS: "secret",
        REQUEST_LOG: "off",
        SHUTDOWN_TIMEOUT: "1",
      },
    },
  );
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

function words(
  runtime: FoundRuntime,
  program: "main" | "serve" | "parallel",
  port: number,
): readonly string[] {
  if (program === "main") {
    const file = commandLine(`${FOLDER}/main.ts`, ["-A"], runtime);
    return [...file, "start", "--port", `${port}`];
  }
  const flags = program === "parallel" ? ["--parallel"] : [];
  return [
    ...[runtime.command, "serve", "-A", "--host", "127.0.0.1"],
    ...["--port", `${port}`, ...flags, `${FOLDER}/serve.ts`],
  ];
}

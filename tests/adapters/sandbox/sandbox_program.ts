/** Starts the sandbox's program as a tester would, on any of the runtimes. */

import assert from "node:assert/strict";
import { after } from "node:test";
import type { RecordedRequest } from "../../../adapters/sandbox/mod.ts";
import type { Store } from "../../../adapters/sandbox/store.ts";
import { Wire } from "../../contract/wire.ts";
import { launch, type Program } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  findRuntimes,
  type Runtime,
  testUnless,
} from "../../support/runtime.ts";
import { openWire, rawRequest } from "../../support/wire.ts";

const MAIN = pathOf("adapters/sandbox/main.ts");

/** A sandbox that listens. */
export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Launches the program with the permissions of its task; `args` are a list, or words between
 * spaces. `through` is a command that runs it.
 */
export function launchSandbox(
  args: string | readonly string[],
  runtime?: Runtime,
  through: readonly string[] = [],
): Program {
  const flags = ["-q", "--no-prompt", "--allow-net", "--allow-read"];
  const words = typeof args === "string" ? args.split(" ") : args;
  const command = [...commandLine(MAIN, flags, runtime), ...words];
  return launch([...through, ...command], { isInteractive: true });
}

/** Starts the program as {@linkcode launchSandbox} does, and waits until it listens. */
export async function startSandbox(
  ...launched: Parameters<typeof launchSandbox>
) {
  const program = launchSandbox(...launched);
  const line = await program.nextLine();
  if (line === undefined) throw new Error(program.stderr());
  /** What the program says of itself. */
  const address: Readonly<Record<"url" | "key" | "control", string>> = JSON
    .parse(line);
  const { host, port } = new URL(address.url);
  /** Sends a request to the control address; returns its status and its JSON, if it has any. */
  async function drive(method: string, path = "", body?: unknown) {
    const response = await fetch(address.control + path, {
      method,
      ...body !== undefined && {
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "content-type": "application/json" },
      },
    });
    const text = await response.text();
    const json: unknown = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, json };
  }
  /** Reads what the types below say. */
  const get = async (path: string) => (await drive("GET", path)).json as never;
  return {
    ...address,
    program,
    port: Number(port),
    drive,
    /** Drives it as `drive` does; it must be done, and there is nothing to say. */
    async tell(...request: Parameters<typeof drive>): Promise<void> {
      const done = { status: 204, json: undefined };
      assert.deepEqual(await drive(...request), done);
    },
    /** What the control address says of its state. */
    state: (): Promise<ReturnType<Store["state"]>> => get(""),
    requests: (): Promise<readonly RecordedRequest[]> => get("/requests"),
    /** Sends a request to the service on its own connection, which closes after the answer. */
    async send(
      request: string,
      body?: string,
      key = address.key,
    ): Promise<string> {
      const [line = "", ...fields] = request.split("\n");
      const all = [
        `Host: ${host}`,
        "Connection: close",
        `Authorization: Bearer ${key}`,
        ...fields,
        ...body === undefined ? [] : ["Content-Type: application/json"],
      ];
      const sent = rawRequest(line, all, body);
      return await (await Wire.open(Number(port), sent)).rest();
    },
  };
}

/** The sandbox of a test. */
export interface SandboxOfTest extends RunningSandbox {
  /** Opens a connection to it, and sends bytes, as {@linkcode openWire} does. */
  readonly wire: (bytes: string) => Promise<Wire>;
}

/**
 * Registers a test for each runtime, with one sandbox of fifty pets, which is seeded before each
 * test.
 */
export function onEverySandbox(): (
  title: string,
  check: (sandbox: SandboxOfTest) => Promise<void>,
) => void {
  const all = findRuntimes().map((runtime) => {
    let started: Promise<RunningSandbox> | undefined;
    after(async () => {
      await (await started)?.program.endInput();
    });
    const start = () =>
      started ??= startSandbox("--pets 50 --with-stdin --quiet", runtime);
    return { runtime, start };
  });
  return (title, check) => {
    for (const { runtime: { name, missing }, start } of all) {
      testUnless(missing ?? false)(`${name}: ${title}`, async (t) => {
        const sandbox = await start();
        await sandbox.tell("PUT", "/pets", 50);
        const wire = (bytes: string) => openWire(t, sandbox, bytes);
        await check({ ...sandbox, wire });
      });
    }
  };
}

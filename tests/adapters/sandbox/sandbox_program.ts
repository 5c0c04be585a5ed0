/** Starts the sandbox's program as a tester would, on any of the runtimes. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Fault, RecordedRequest } from "../../../adapters/sandbox/mod.ts";
import { Wire } from "../../contract/wire.ts";
import { launch, type Program } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  findRuntimes,
  type Runtime,
} from "../../support/runtime.ts";
import { openWire, rawRequest } from "../../support/wire.ts";

const MAIN = pathOf("adapters/sandbox/main.ts");

/** What the program says of itself. */
export interface Address {
  readonly url: string;
  readonly key: string;
  readonly control: string;
}

/** A sandbox that listens. */
export interface RunningSandbox extends Address {
  readonly program: Program;
  readonly port: number;
  /** Sends a request to the control address; returns its status and its JSON, if it has any. */
  drive(
    method: string,
    path?: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly json: unknown }>;
  /** Drives it as {@linkcode drive} does; it must be done, and there is nothing to say. */
  tell(method: string, path: string, body?: unknown): Promise<void>;
  /** What the control address says of its state. */
  state(): Promise<{
    readonly pets: number;
    readonly faults: readonly Fault[];
    readonly requests: number;
  }>;
  requests(): Promise<readonly RecordedRequest[]>;
  /** Sends a request to the service on its own connection, which closes after the answer. */
  send(request: string, body?: string): Promise<string>;
}

/** Launches the program with the permissions of its task; `args` are words between spaces. */
export function launchSandbox(args: string, runtime?: Runtime): Program {
  const flags = ["-q", "--no-prompt", "--allow-net", "--allow-read"];
  const command = [...commandLine(MAIN, flags, runtime), ...args.split(" ")];
  return launch(command, { isInteractive: true });
}

/** Starts the program, and waits until it listens. */
export async function startSandbox(
  args: string,
  runtime?: Runtime,
): Promise<RunningSandbox> {
  const program = launchSandbox(args, runtime);
  const line = await program.nextLine();
  if (line === undefined) throw new Error(program.stderr());
  const address: Address = JSON.parse(line);
  const port = Number(new URL(address.url).port);
  const drive: RunningSandbox["drive"] = async (method, path = "", body) => {
    const response = await fetch(address.control + path, {
      method,
      ...body !== undefined && {
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "content-type": "application/json" },
      },
    });
    const text = await response.text();
    const json = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, json };
  };
  /** Reads what the types above say. */
  const get = async (path: string) => (await drive("GET", path)).json as never;
  return {
    ...address,
    program,
    port,
    drive,
    async tell(...request) {
      const done = { status: 204, json: undefined };
      assert.deepEqual(await drive(...request), done);
    },
    state: () => get(""),
    requests: () => get("/requests"),
    async send(request, body) {
      const [line = "", ...fields] = request.split("\n");
      const all = [
        `Host: ${new URL(address.url).host}`,
        "Connection: close",
        `Authorization: Bearer ${address.key}`,
        ...fields,
        ...body === undefined ? [] : ["Content-Type: application/json"],
      ];
      return await (await Wire.open(port, rawRequest(line, all, body))).rest();
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
      const skip = missing ?? false;
      test(`${name}: ${title}`, { skip }, async (t) => {
        const sandbox = await start();
        await sandbox.tell("PUT", "/pets", 50);
        const wire = (bytes: string) => openWire(t, sandbox, bytes);
        await check({ ...sandbox, wire });
      });
    }
  };
}

/** Tests of what only Node has. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import process from "node:process";
import { after, test, type TestContext } from "node:test";
import {
  type NodeListener,
  type NodeServeOptions,
  serve,
} from "../../../../adapters/http/node/mod.ts";
import { toHandler } from "../../../../core/http/fetch_handler.ts";
import type {
  Answer,
  ReadBody,
  Service,
} from "../../../../core/http/message.ts";
import {
  apiKeys,
  createHandler,
  type Handler,
  type HandlerOptions,
  memoryStorage,
} from "../../../../mod.ts";
import type { Wire } from "../../../contract/wire.ts";
import { RUNTIME } from "../../../support/runtime.ts";
import { listenOn } from "../../../support/server.ts";
import { until } from "../../../support/time.ts";
import { openWire } from "../../../support/wire.ts";
import { watch } from "../stage.ts";

const isNode = RUNTIME === "node";

/** `test` for what only Node has; elsewhere it is skipped. */
export const testOnNode: typeof test.skip = isNode ? test : test.skip;

after(async () => {
  if (!isNode) return;
  await new Promise(setImmediate); // the last client may still be leaving
  const left = process.getActiveResourcesInfo();
  assert(!left.includes("Timeout"), "a timer outlives its client");
});

/** A connection to a server, which fails the test for reported errors that are left in `errors`. */
export interface Spoken {
  readonly wire: Wire;
  readonly errors: unknown[];
  /** Resolves once the server has read this many bytes of the connection. */
  received(count: number): Promise<void>;
  /** Hangs up and closes the server, which by then has reported everything. */
  close(): Promise<void>;
}

/** Serves `handle`, and connects to it. */
export async function speak(
  t: TestContext,
  handle: Handler,
  options: NodeServeOptions = {},
): Promise<Spoken> {
  let socket: Socket | undefined;
  const service: Service = (request, connection, readBody) => {
    socket = connection as Socket;
    return handle.answer(request, connection, readBody);
  };
  const serving = (all: NodeServeOptions) => serve(toHandler(service), all);
  const all = await watch(t, serving, options);
  const wire = await openWire(t, all);
  return {
    wire,
    errors: all.errors,
    received: (count) =>
      until(`${count} bytes`, () => (socket?.bytesRead ?? 0) >= count),
    close: () => (wire.close(), all.close()),
  };
}

/** Serves a listener on a third-party server, and connects to it. */
export async function speakTo(
  t: TestContext,
  listener: NodeListener,
): Promise<Wire> {
  const port = await listenOn(t, createServer(listener));
  return await openWire(t, { port });
}

/** The service, with the key `secret`. */
export function pets(options: Partial<HandlerOptions> = {}): Handler {
  const keys = apiKeys(["secret"]);
  return createHandler({ storage: memoryStorage(), keys, ...options });
}

/** A handler that answers each request with this. */
export function saying(
  body: Answer["body"],
  { status = 200, headers = {} }: Partial<Answer> = {},
): Handler {
  return toHandler(async () => ({ status, headers, body }));
}

/** Makes an answer from a text. */
export function ok(body: Answer["body"]): Answer {
  return { status: 200, headers: {}, body };
}

/** A handler that answers each request with its body. */
export const echo: Handler = toHandler(
  async ({ headers }, _connection, readBody) => {
    const length = headers.get("content-length");
    return await readAll(
      readBody,
      length === null ? undefined : Number(length),
    );
  },
);

/** Reads a body, and makes an answer from it. */
export async function readAll(
  readBody: ReadBody,
  length?: number,
): Promise<Answer> {
  const limits = { maxBodyBytes: 1_000_000, bodyTimeout: 30_000 };
  const bytes = await readBody(limits, length);
  return bytes instanceof Uint8Array
    ? ok(new TextDecoder().decode(bytes))
    : bytes;
}

export function streamOf(
  ...chunks: (string | Promise<string>)[]
): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
}
